"""Finds rows that read the same leading pages, so that these are read once for all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from pie_mlx.metal.visibility import Run

LEAST_PAGES = 4
"""Fewer shared pages do not pay for the second product."""


@dataclass(frozen=True, slots=True)
class Shared:
    """Runs of one token whose first `pages` pages are the same."""

    runs: list[Run]
    pages: int


def shared_groups(runs: Sequence[Run], page_size: int) -> tuple[list[Shared], list[Run]]:
    """Groups of single-token runs with common leading pages, and the runs that share too little.

    A run keeps at least one slot of its own; runs with masks share nothing.
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
