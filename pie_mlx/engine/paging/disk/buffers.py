"""Memory that pages are read into before they are written to the pool, used again: to touch new memory costs more than
to read into it."""

from pie_mlx.engine.paging.page_bytes import PageLayout, PageRows

KEPT = 1
"""Buffers of one prompt that is read. Those of others that are read meanwhile are not kept."""


class Buffers:
    """Room for the bytes of some pages each. Take one, and give it back only once nothing reads or writes it."""

    def __init__(self, layout: PageLayout) -> None:
        self._layout = layout
        self._free: list[PageRows] = []

    def take(self, pages: int) -> PageRows:
        """A buffer for so many pages, with any content."""
        while self._free:
            if len(rows := self._free.pop()) == pages:
                return rows
        return self._layout.rows(pages)

    def give_back(self, rows: PageRows) -> None:
        """It may be used again."""
        if len(self._free) < KEPT:
            self._free.append(rows)
