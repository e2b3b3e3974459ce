"""Which slots a token row sees: causality, windows, run-length masks. Plain arithmetic on the host."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]


class Run(Protocol):
    """Consecutive token rows `start` .. `start + count` that read one block table of `kv_length` slots.

    The rows occupy the last `count` of these slots. `masks` has one row of alternating run lengths over the slots per
    token row, the first run hidden; None is causal. Runs of one `context` in different steps tend to share pages.
    """

    @property
    def context(self) -> int: ...
    @property
    def start(self) -> int: ...
    @property
    def count(self) -> int: ...
    @property
    def block_table(self) -> Sequence[int]: ...
    @property
    def kv_length(self) -> int: ...
    @property
    def masks(self) -> Sequence[Sequence[int]] | None: ...


def first_visible(run: Run, window: int | None) -> int:
    """The first slot any row of the run sees within `window` slots, its own included."""
    return 0 if window is None else max(0, run.kv_length - run.count + 1 - window)


def visible(run: Run, window: int | None, start: int, count: int) -> BoolArray:
    """Which of the slots `start` .. `start + count` each row of the run sees, [rows, count]."""
    slot = np.arange(start, start + count)
    own = np.arange(run.kv_length - run.count, run.kv_length)[:, None]
    seen = slot <= own
    if window is not None:
        seen &= slot > own - window
    if run.masks is not None:
        seen &= np.stack([expanded(row, start, count) for row in run.masks])
    return seen


def expanded(runs: Sequence[int], start: int, count: int) -> BoolArray:
    """Slots `start` .. `start + count` of a run-length mask; hidden beyond its end."""
    flat = np.repeat(np.arange(len(runs)) % 2 == 1, runs)[start : start + count]
    return np.pad(flat, (0, count - len(flat)))


def blank_rows(seen: BoolArray) -> npt.NDArray[Any] | None:
    """Rows that see nothing, [..., 1]; None where every row sees something."""
    blank = np.logical_not(np.any(seen, axis=-1, keepdims=True))
    return blank if blank.any() else None
