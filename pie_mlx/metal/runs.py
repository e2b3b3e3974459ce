"""Runs of token rows: which slots each row sees, and which runs share pages. Plain arithmetic on the host."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]


class Run(Protocol):
    """Consecutive token rows `start` .. `start + count` that read one block table of `kv_length` slots.

    The rows occupy the last `count` of these slots. `masks` has one list of alternating run lengths per token row, the
    first run hidden; None is causal. Runs of one `context` in consecutive steps usually share pages.
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


class RunSlice:
    """Tokens `begin` .. `begin + count` of a run, as a run."""

    def __init__(self, run: Run, begin: int, count: int) -> None:
        self.start, self.count = run.start + begin, count
        self.context = run.context
        self.block_table = run.block_table
        self.kv_length = run.kv_length - (run.count - begin - count)
        self.masks = None if run.masks is None else run.masks[begin : begin + count]


def first_visible(run: Run, window: int | None) -> int:
    """The first slot that any row of the run sees with this window, which counts the row's own slot."""
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
    """Rows that see nothing, [..., 1]; None if every row sees something."""
    blank = np.logical_not(np.any(seen, axis=-1, keepdims=True))
    return blank if blank.any() else None


LEAST_PAGES = 4
"""With fewer shared pages the second product costs more than it saves."""


@dataclass(frozen=True, slots=True)
class Shared:
    """Runs of one token whose first `pages` pages are the same."""

    runs: list[Run]
    pages: int


def shared_groups(runs: Sequence[Run], page_size: int) -> tuple[list[Shared], list[Run]]:
    """Groups of single-token runs with common leading pages, and the runs that share too little.

    A run keeps at least one slot of its own. Runs with masks are not grouped.
    """
    by_first_page: dict[int, list[Run]] = {}
    for run in runs:
        if run.masks is None:
            by_first_page.setdefault(run.block_table[0], []).append(run)
    groups: list[Shared] = []
    for members in by_first_page.values():
        pages = _common_pages(members, page_size) if len(members) > 1 else 0
        if pages >= LEAST_PAGES:
            groups.append(Shared(members, pages))
    taken = {run.start for group in groups for run in group.runs}
    return groups, [run for run in runs if run.start not in taken]


def _common_pages(runs: Sequence[Run], page_size: int) -> int:
    common = min((run.kv_length - 1) // page_size for run in runs)
    model = list(runs[0].block_table[:common])
    for run in runs[1:]:
        table = run.block_table
        if list(table[: len(model)]) != model:
            model = model[: next(index for index, page in enumerate(model) if table[index] != page)]
    return len(model)
