"""Run-length masks: canonical rows, the causal cut, and the trimming of pages that no row sees.

A mask is a list of alternating run lengths, the first one False: [2, 3, 1] is FFTTTF. Canonical masks have no run of
length 0 except possibly the first. All functions are pure.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pie_mlx.errors import InvalidArgumentError

MANY_RUNS = 64
"""Masks with more runs are expanded by numpy: without it, 4,000 rows with this many runs took 37 s."""


class Span(NamedTuple):
    """Visible slots `start` to `end`, not included."""

    start: int
    end: int


class TrimmedRows(NamedTuple):
    """`pages` that remain, as indexes into the block table, and each row spliced to them."""

    pages: list[int]
    rows: list[list[int]]


def is_empty(runs: Sequence[int]) -> bool:
    """Whether the mask hides everything."""
    return not any(runs[1::2])


def spans(runs: Sequence[int]) -> list[Span]:
    """The visible spans in order. Adjacent spans merge only if the runs are canonical."""
    _require_no_negative(runs)
    ends = list(accumulate(runs))
    return [Span(ends[i] - runs[i], ends[i]) for i in range(1, len(runs), 2) if runs[i]]


def canonical_row(runs: Sequence[int], slot: int) -> bytes | None:
    """The canonical attention mask of the token at `slot` (K2): cut to its slot + 1 bits, or None if that is full.

    A shorter row hides the slots it does not describe. Decode with `row_runs`.
    """
    size = slot + 1
    row = _cut(runs, size)
    if row == [0, size]:
        return None
    return np.asarray(row, dtype="<u4").tobytes()


def row_runs(mask: bytes | None, slot: int) -> list[int]:
    """The runs of a canonical row of the token at `slot`."""
    return [0, slot + 1] if mask is None else np.frombuffer(mask, dtype="<u4").tolist()


def to_bits(runs: Sequence[int], size: int) -> NDArray[np.bool_]:
    """bool [size]: True where visible, False beyond the end of the mask."""
    _require_no_negative(runs)
    ends = [min(end, size) for end in accumulate(runs)]  # Python ints: they do not overflow
    bits = np.zeros(size, dtype=np.bool_)
    if ends:
        bits[: ends[-1]] = np.repeat(np.arange(len(ends)) % 2 == 1, np.diff(ends, prepend=0))
    return bits


def from_bits(bits: Sequence[bool] | NDArray[np.bool_]) -> list[int]:
    """The canonical runs of explicit bits."""
    flags = np.asarray(bits, dtype=np.bool_)
    if not flags.size:
        return []
    changes = np.flatnonzero(flags[1:] != flags[:-1]) + 1
    runs = np.diff(np.concatenate(([0], changes, [flags.size]))).tolist()
    return [0, *runs] if flags[0] else runs


def trim_pages(rows: Sequence[Sequence[int]], kv_length: int, page_size: int) -> TrimmedRows:
    """Removes the pages that every row hides completely and that hold no input of this pass (F8).

    `rows` has one mask per input token, over the `kv_length` slots that exist after the pass.
    """
    visible = [_merge(spans(row)) for row in rows]
    hidden = np.ones(-(-kv_length // page_size), dtype=np.bool_)
    hidden[(kv_length - len(rows)) // page_size :] = False
    for start, end in (span for row in visible for span in row):
        hidden[start // page_size : (end - 1) // page_size + 1] = False
    removed = np.concatenate(([0], np.cumsum(hidden))) * page_size
    before: list[int] = removed.tolist()

    def moved(slot: int) -> int:
        return slot - before[slot // page_size]

    kept_length = moved(kv_length)
    trimmed = [_from_spans([Span(moved(a), moved(b)) for a, b in row], kept_length) for row in visible]
    return TrimmedRows(np.flatnonzero(~hidden).tolist(), trimmed)


def _cut(runs: Sequence[int], size: int) -> list[int]:
    """The first `size` bits; False beyond the end of `runs`."""
    if len(runs) > MANY_RUNS:
        return from_bits(to_bits(runs, size))
    clipped = [Span(start, min(end, size)) for start, end in spans(runs) if start < size]
    return _from_spans(clipped, size)


def _merge(visible: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in visible:
        if merged and merged[-1].end == span.start:
            merged[-1] = Span(merged[-1].start, span.end)
        else:
            merged.append(span)
    return merged


def _from_spans(visible: list[Span], size: int) -> list[int]:
    """Canonical runs of `size` bits that are True exactly on the ordered, disjoint spans."""
    runs: list[int] = []
    end = 0
    for span in _merge(visible):
        runs += [span.start - end, span.end - span.start]
        end = span.end
    return [*runs, size - end] if end < size else runs


def _require_no_negative(runs: Sequence[int]) -> None:
    if runs and min(runs) < 0:
        raise InvalidArgumentError(f"mask: run {min(runs)} is negative", hint="run lengths count slots: use 0 or more")
