"""Segments: runs of full pages that were extended by one holder, the edges of the prefix trie."""

from __future__ import annotations

from typing import Any

from pie_mlx.engine.kv.pages.integrity_error import IntegrityError
from pie_mlx.engine.kv.pages.working_token import WorkingToken, unpack


class PageRecord:
    """One page's identity and where its content is.

    `packed` are its tokens (see `working_token.pack`), `rows` how many. `page` is the physical page, None once it was
    reclaimed. `spill` is the spill file's key, None when not spilled. `wanted` counts the off-pool contexts and
    snapshots that need the content some day.
    """

    __slots__ = ("key", "packed", "page", "rows", "spill", "wanted")

    def __init__(self, key: bytes, packed: bytes, rows: int, page: int | None) -> None:
        self.key = key
        self.packed = packed
        self.rows = rows
        self.page = page
        self.spill: Any = None
        self.wanted = 0

    @property
    def tokens(self) -> list[WorkingToken]:
        """Unpacked anew each time."""
        return unpack(self.packed)


def resident_page(record: PageRecord) -> int:
    """The physical page of a record that must be in the pool."""
    if record.page is None:
        raise IntegrityError("a page without content is linked in the trie")
    return record.page


class Segment:
    """A run of pages below `parent`; every page of it is in the pool.

    `contexts` and `snapshots` count the holders whose chain ends here plus the children that are held, so a
    hold of a long chain touches only the segments that were not held before. `listed` is False for pages that
    no lookup may find: working tails, and pages whose key belongs to other tokens. A segment without pages
    (other than the root) was reclaimed; its parent stands for it.
    """

    __slots__ = ("children", "contexts", "holders", "listed", "pages", "parent", "share", "snapshots", "unseen")

    def __init__(self, parent: Segment | None, pages: list[PageRecord], *, listed: bool = True) -> None:
        self.parent = parent
        self.pages = pages
        self.children: dict[bytes, Segment] = {}
        self.contexts = 0
        self.snapshots = 0
        self.listed = listed
        self.unseen = -1
        self.holders = 0
        self.share = 0.0
