"""Segments: runs of full pages that one holder extended. They are the edges of the prefix trie."""

from __future__ import annotations

from typing import Any, NamedTuple

from pie_mlx.engine.kv.pages.working_token import WorkingToken, unpack


class IntegrityError(RuntimeError):
    """The page store contradicts itself, or a caller broke its contract: a bug in the engine."""


class Owner(NamedTuple):
    """The user and the program that something was computed for."""

    user: str = ""
    program: str = ""


NOBODY = Owner()
SYSTEM = Owner(program="the system, which was short of memory")


class KeptState:
    """A state after the first `tokens` tokens of all its holders.

    `state` is opaque here, and None once it is dropped; `spill` is its key in the spill file, None if it is not there.
    `holders` counts the pages, contexts and images that refer to it, `wanted` the images among them. Each use of it
    `saves` computing so many tokens; states of less `worth` are dropped first.
    """

    __slots__ = ("holders", "saves", "size_bytes", "spill", "state", "tokens", "uses", "wanted", "worth")

    def __init__(self, state: Any, tokens: int, size_bytes: int, saves: int) -> None:
        self.state, self.tokens, self.size_bytes, self.saves = state, tokens, size_bytes, saves
        self.spill: Any = None
        self.uses, self.worth = 1, 0.0
        self.holders = self.wanted = 0


class PageRecord:
    """The identity of one page, and the place of its content.

    `packed` are its tokens (see `working_token.pack`), `rows` their number. `page` is the physical page, None once
    reclaimed. `spill` is the key in the spill file, None if not spilled. `wanted` counts the images (off-pool contexts
    and snapshots) that need the content. `checkpoint` is the state of recurrent layers after its last token, if kept.
    It may outlive the engine for the user it is `stored_for`; None if it must not. `reused` once another context went
    on after it. `user` had it computed first.
    """

    __slots__ = ("checkpoint", "key", "packed", "page", "reused", "rows", "spill", "stored_for", "user", "wanted")

    def __init__(self, key: bytes, packed: bytes, rows: int, page: int | None, stored_for: str | None = None) -> None:
        self.key = key
        self.packed = packed
        self.rows = rows
        self.page = page
        self.user = ""
        self.spill: Any = None
        self.wanted = 0
        self.checkpoint: KeptState | None = None
        self.stored_for = stored_for
        self.reused = False

    @property
    def tokens(self) -> list[WorkingToken]:
        """The tokens, unpacked at each call."""
        return unpack(self.packed)


def resident_page(record: PageRecord) -> int:
    """The physical page of a record. Raises IntegrityError if the record is not in the pool."""
    if record.page is None:
        raise IntegrityError("a page without content is linked in the trie")
    return record.page


class Segment:
    """A run of pages below `parent`. All of its pages are in the pool.

    `contexts` and `snapshots` count the holders whose chain ends here plus the held children, so that holding a long
    chain touches only segments that were not held before. `listed` is False for pages that lookups must not find:
    working tails, and pages whose key belongs to other tokens. Its pages are kept until `kept_until`, in seconds of the
    pool's clock, before others that no context holds. A segment without pages, except the root, was reclaimed;
    its parent takes its place.
    """

    __slots__ = (
        "children",
        "contexts",
        "holders",
        "kept_until",
        "listed",
        "pages",
        "parent",
        "share",
        "snapshots",
        "unseen",
    )

    def __init__(self, parent: Segment | None, pages: list[PageRecord], *, listed: bool = True) -> None:
        self.parent = parent
        self.pages = pages
        self.children: dict[bytes, Segment] = {}
        self.contexts = 0
        self.snapshots = 0
        self.listed = listed
        self.kept_until = 0.0
        self.unseen = -1
        self.holders = 0
        self.share = 0.0
