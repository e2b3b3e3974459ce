"""What goes in and out of the page store: plain immutable values."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from pie_mlx.engine.kv.pages.segment import PageRecord
from pie_mlx.engine.kv.pages.working_token import WorkingToken

SpillKey = Any
"""Whatever the spill file calls a stored page; kept and handed back, never looked at."""


@dataclass(frozen=True, slots=True)
class PageCopy:
    """Copy the first `rows` slots of page `source` to page `target`.

    Copies are done in the order they were returned, before the next pass.
    """

    source: int
    target: int
    rows: int


@dataclass(frozen=True, slots=True)
class PageRead:
    """Read the spilled page `key` into page `target`; its first `rows` slots count."""

    key: SpillKey
    target: int
    rows: int


@dataclass(frozen=True, slots=True)
class PageContent:
    """Content of page `page` (its first `rows` slots) that somebody off-pool may want back.

    `record` is the store's own handle of it: hand the whole value to `mark_spilled`.
    """

    page: int
    rows: int
    record: PageRecord


@dataclass(frozen=True, slots=True)
class Fill:
    """Tokens to run through the model again, at slots `start`, `start + 1`, ... of their context."""

    start: int
    tokens: tuple[int, ...]
    positions: tuple[int, ...]
    masks: tuple[bytes | None, ...]
    adapter: int
    adapter_version: int
    zo_seed: int


class CommitResult(NamedTuple):
    """`pages` were committed; `computed` of them hold a token this context computed (they cost), and
    `deduplicated` were replaced by an equal page that was there already."""

    pages: int
    computed: int
    deduplicated: int


@dataclass(frozen=True, slots=True)
class Transcript:
    """All tokens of a context, the first `committed` of them in committed pages: what computes its content anew."""

    tokens: list[WorkingToken]
    committed: int

    @property
    def needs_adapter(self) -> bool:
        """Whether some of it was computed with an adapter."""
        return any(token.adapter for token in self.tokens)


@dataclass(frozen=True, slots=True)
class Mark:
    """A context before a pass, for `rollback`."""

    committed: int
    working: tuple[WorkingToken, ...]
    working_pages: int
    highest_position: int
    inherited_tokens: int


class Rows(msgspec.Struct, frozen=True):
    """Where the next tokens of a context go: slot numbers from `first` on, their physical `slots` (page × page size +
    offset), and the pages of all slots up to theirs."""

    first: int
    slots: list[int]
    block_table: list[int]


NOTHING_COMMITTED = CommitResult(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Fork:
    """A new context and the page copies that complete it."""

    context: int
    copies: tuple[PageCopy, ...]


@dataclass(frozen=True, slots=True)
class Suspension:
    """What a suspended context leaves behind.

    `freed` pages became available. `contents` is what would be lost if they were all reclaimed, in slot
    order: readable until pages are next requested.
    """

    freed: int
    contents: tuple[PageContent, ...]


@dataclass(frozen=True, slots=True)
class Restore:
    """The work that brings a context back: copies, then reads, then fills in order, then `finish_restore`."""

    attached: int
    copies: tuple[PageCopy, ...]
    reads: tuple[PageRead, ...]
    fills: tuple[Fill, ...]


@dataclass(frozen=True, slots=True)
class Opened:
    """A context made from a snapshot. Off-pool (`resident` False) when some content must be brought back first."""

    context: int
    copies: tuple[PageCopy, ...]
    notes: Any
    resident: bool


@dataclass(frozen=True, slots=True)
class PoolUsage:
    """Pages by what they are to the pool: capacity = free + cached + snapshot_only + used + withheld; shared is part of
    used."""

    capacity: int
    free: int
    cached: int
    snapshot_only: int
    used: int
    shared: int
    withheld: int = 0
