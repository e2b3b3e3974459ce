"""The pool page by page, and single pages, as the engine's books have them. Only a running engine knows."""

import msgspec


class PoolGroup(msgspec.Struct, frozen=True):
    """`count` pages of a kind in the same hands: of `contexts` that the user may see, and of so many `others`.

    `pages` are runs of a first page and a number, in the order of their text; none if there were too many to tell.
    `stored` ones also lie in the disk cache.
    """

    kind: str
    count: int
    contexts: tuple[int, ...] = ()
    others: int = 0
    pages: tuple[tuple[int, int], ...] = ()
    stored: bool = False

    @property
    def holders(self) -> int:
        """How many contexts hold them."""
        return len(self.contexts) + self.others


class StateSlot(msgspec.Struct, frozen=True):
    """What recurrent layers remember of a context after `tokens` tokens, None if nothing, at the price of `pages`; and
    after how many tokens other states are `kept` for it."""

    context: int
    pages: tuple[int, ...] = ()
    tokens: int | None = None
    kept: tuple[int, ...] = ()


class DiskModel(msgspec.Struct, frozen=True):
    """The pages of a model in the disk cache, and the bytes of their files."""

    model: str
    pages: int
    size_bytes: int


class PoolBooks(msgspec.Struct, frozen=True):
    """All pages of the pool; the states of recurrent layers; the disk cache by model; the name of the engine's own."""

    groups: tuple[PoolGroup, ...] = ()
    states: tuple[StateSlot, ...] = ()
    disk: tuple[DiskModel, ...] = ()
    model: str = ""

    def count(self, *kinds: str) -> int:
        """Pages of these kinds."""
        return sum(group.count for group in self.groups if group.kind in kinds)

    @property
    def shared(self) -> int:
        """Pages that several contexts hold."""
        return sum(group.count for group in self.groups if group.holders > 1)

    @property
    def stored(self) -> int:
        """Pages that also lie in the disk cache."""
        return sum(group.count for group in self.groups if group.stored)


USED = ("held", "working", "state")
"""Kinds of pages that contexts hold."""


class PageBook(msgspec.Struct, frozen=True):
    """One page. Times are seconds ago, None if unknown. `text` is empty where the user may not see it, or its program
    does not show it."""

    page: int
    kind: str
    contexts: tuple[int, ...] = ()
    others: int = 0
    user: str = ""
    key: str = ""
    after: str = ""
    first: int = 0
    tokens: int = 0
    made_seconds: float | None = None
    used_seconds: float | None = None
    stored: bool = False
    spilled: bool = False
    state_tokens: int | None = None
    text: str = ""
