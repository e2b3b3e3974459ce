"""Logit masks as packed bits: bit i of word i // 32 allows token i."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from pie_mlx.engine.model.runner.batch import PackedMask
from pie_mlx.errors import EmptyMaskError, InvalidArgumentError


def pack_runs(runs: Sequence[int], vocabulary: int) -> PackedMask:
    """Pack a BRLE mask; tokens beyond it are forbidden (F9). Raises InvalidArgumentError for a run below 0 and a mask
    wider than the vocabulary."""
    _check_runs(runs, vocabulary)
    lengths = np.asarray(runs, dtype=np.int64)
    bits = np.zeros((vocabulary + 31) // 32 * 32, np.uint8)
    bits[: lengths.sum()] = np.repeat(np.arange(len(lengths)) % 2, lengths)
    return np.packbits(bits, bitorder="little").view(np.uint32)


def _check_runs(runs: Sequence[int], vocabulary: int) -> None:
    """In ints of Python: those of numpy wrap, and what `repeat` is given then it writes beyond its buffer."""
    if len(runs) > 2 * vocabulary + 1:  # what one writes who gives each token a run of its own
        raise InvalidArgumentError(
            f"logit mask: {len(runs)} runs for a vocabulary of {vocabulary}", hint="leave out runs of length 0"
        )
    if min(runs, default=0) < 0:
        raise InvalidArgumentError(f"logit mask: negative run {min(runs)}", hint="run lengths count tokens")
    if sum(runs) > vocabulary:
        raise InvalidArgumentError(
            f"logit mask: covers {sum(runs)} tokens, the vocabulary has {vocabulary}",
            hint="shorten the mask; tokens beyond its end are forbidden anyway",
        )


def intersect(masks: Sequence[PackedMask], *, names: Sequence[str]) -> PackedMask | None:
    """What every mask allows; None when there is none. Raises EmptyMaskError when that is nothing (G13)."""
    if not masks:
        return None
    allowed = masks[0] if len(masks) == 1 else np.bitwise_and.reduce(np.stack(masks), axis=0)
    if not allowed.any():
        raise EmptyMaskError(
            f"no token is allowed: {' and '.join(names)} leave nothing to choose from",
            hint="loosen one of the constraints",
        )
    return allowed


class RowMatcher(Protocol):
    """A grammar that tells which tokens may come next. Where that is none it raises GrammarError."""

    def packed_mask(self) -> PackedMask | None: ...


def allowed_next(matchers: Sequence[RowMatcher], fixed: PackedMask | None) -> PackedMask | None:
    """What every grammar and the fixed mask allow; None for everything. Raises EmptyMaskError (F9)."""
    masks = [mask for matcher in matchers if (mask := matcher.packed_mask()) is not None]
    if fixed is None and len(masks) == 1:
        return masks[0]  # a grammar never answers that nothing is allowed
    names = [f"grammar {number}" for number in range(len(masks))]
    if fixed is not None:
        masks.append(fixed)
        names.append("the logit mask")
    return intersect(masks, names=names)


def allows(mask: PackedMask | None, token: int) -> bool:
    """Whether a token is allowed."""
    return mask is None or bool(int(mask[token >> 5]) >> (token & 31) & 1)


def only_token(mask: PackedMask | None) -> int | None:
    """The token of a mask that allows no other."""
    words = () if mask is None else np.flatnonzero(mask)
    if mask is None or len(words) != 1:
        return None
    bits = int(mask[words[0]])
    return None if bits & (bits - 1) else 32 * int(words[0]) + bits.bit_length() - 1
