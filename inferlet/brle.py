"""Masks as run lengths: alternating runs, the first one False.

`[2, 3, 1]` is False False True True True False. As a logit mask, `[]` means "no restriction".
"""

from collections.abc import Iterable, Iterator, Sequence

from inferlet._calls.checks import integers
from pie_mlx.calls import Brle
from pie_mlx.errors import InvalidArgumentError

__all__ = ["allow_only", "allows_any", "brle_and", "canonical", "combine", "restriction", "spans"]

NOTHING: Brle = [0]
"""The logit mask that allows nothing; `[]` would allow everything."""


def canonical(mask: Iterable[int], what: str = "mask") -> Brle:
    """The same mask in minimal runs. Raises InvalidArgumentError for a negative run and InvalidTypeError for non-ints,
    both of `what`."""
    runs = integers(mask, what)
    if any(run < 0 for run in runs):
        raise InvalidArgumentError(f"{what}: negative run {min(runs)}", hint="run lengths count tokens")
    return _minimal(_runs(runs))


def restriction(mask: Sequence[int], what: str = "mask") -> Brle:
    """A logit mask in minimal runs, where only `[]` restricts nothing. Raises as `canonical` does."""
    runs = canonical(mask, what)
    return runs or (NOTHING if len(mask) else [])


def brle_and(left: Sequence[int], right: Sequence[int]) -> Brle:
    """True where both masks are; as long as the shorter one, in minimal runs."""
    return _minimal(_overlaps(left, right))


def combine(masks: Iterable[Brle]) -> Brle:
    """AND of logit masks, of which the empty ones restrict nothing."""
    together: Brle = []
    for mask in masks:
        if mask:
            together = (brle_and(together, mask) or NOTHING) if together else mask
    return together


def allows_any(mask: Brle, width: int) -> bool:
    """Whether a logit mask allows one of the first `width` tokens."""
    if not mask:
        return True
    start = 0
    for length, allowed in _runs(mask):
        if allowed and start < width:
            return True
        start += length
    return False


def allow_only(tokens: Iterable[int]) -> Brle:
    """The logit mask that allows exactly these tokens. Raises InvalidArgumentError for none or a negative one."""
    wanted = sorted(set(integers(tokens, "tokens")))
    if not wanted or wanted[0] < 0:
        raise InvalidArgumentError("allow_only: needs at least one token id, none negative", hint="pass token ids")
    bounds = [-1, *wanted]
    pieces = ((after - before - 1, 1) for before, after in zip(bounds, wanted, strict=False))
    return _minimal(run for gap, one in pieces for run in ((gap, False), (one, True)))


def spans(*ranges: range | tuple[int, int]) -> Brle:
    """The mask that is True exactly in these half-open ranges, which may touch and overlap: `spans((0, 4), (96, 128))`.

    Raises InvalidArgumentError for a negative bound or a step other than 1.
    """
    runs: list[tuple[int, bool]] = []
    end = 0
    for start, stop in sorted(_bounds(span) for span in ranges):
        start = max(start, end)
        if start < stop:
            runs += [(start - end, False), (stop - start, True)]
            end = stop
    return _minimal(runs)


def _bounds(span: range | tuple[int, int]) -> tuple[int, int]:
    if isinstance(span, range):
        step, ends = span.step, (span.start, span.stop)
    else:
        step, ends = 1, span
    start, stop = integers(ends, "spans")
    if min(start, stop) < 0 or step != 1:
        raise InvalidArgumentError(f"spans: {span}: a bound is negative, or a step is not 1", hint="pass (start, stop)")
    return start, stop


def _runs(mask: Sequence[int]) -> Iterator[tuple[int, bool]]:
    for place, length in enumerate(mask):
        if length:
            yield length, place % 2 == 1


def _overlaps(left: Sequence[int], right: Sequence[int]) -> Iterator[tuple[int, bool]]:
    ours, theirs = _ends(left), _ends(right)
    mine, yours, start = next(ours, None), next(theirs, None), 0
    while mine and yours:
        end = min(mine[0], yours[0])
        yield end - start, mine[1] and yours[1]
        start = end
        mine = next(ours, None) if mine[0] == end else mine
        yours = next(theirs, None) if yours[0] == end else yours


def _ends(mask: Sequence[int]) -> Iterator[tuple[int, bool]]:
    """The end of each run, with its value."""
    end = 0
    for length, value in _runs(mask):
        end += length
        yield end, value


def _minimal(runs: Iterable[tuple[int, bool]]) -> Brle:
    mask: Brle = []
    for length, value in runs:
        if not length:
            continue
        if not mask and value:
            mask.append(0)
        if len(mask) % 2 == (0 if value else 1):
            mask[-1] += length
        else:
            mask.append(length)
    return mask
