"""Inputs and results of the page store: plain immutable values."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from pie_mlx.engine.kv.pages.record import KeptState, PageRecord, WorkingToken

SpillKey = Any
"""The spill file's name for a stored page. The store never looks into it."""


@dataclass(frozen=True, slots=True)
class PageCopy:
    """Copy the first `rows` slots of page `source` to page `target`.

    Do copies in the order returned, before the next pass.
    """

    source: int
    target: int
    rows: int


@dataclass(frozen=True, slots=True)
class PageRead:
    """Read the spilled page `key` into page `target`. Only its first `rows` slots are valid."""

    key: SpillKey
    target: int
    rows: int


@dataclass(frozen=True, slots=True)
class PageContent:
    """The first `rows` slots of `page`, which an image may need again.

    `record` is the store's own handle: pass the whole value to `mark_spilled`.
    """

    page: int
    rows: int
    record: PageRecord


class Stored(NamedTuple):
    """What a store outside the pool has, by the keys of pages: pages, and states after their last tokens."""

    pages: Collection[bytes] = ()
    states: Collection[bytes] = ()


class StoredPage(NamedTuple):
    """Load the page of `record`, at slot `start` of its context, from that store into page `target`."""

    record: PageRecord
    start: int
    target: int


class StoredState(NamedTuple):
    """Load the state after the page of `record`, which is that after the first `tokens` tokens of a context."""

    record: PageRecord
    tokens: int


class Lasting(NamedTuple):
    """A page that may outlive the engine, and the state after it, if it is kept."""

    record: PageRecord
    state: Any


class Evicted(NamedTuple):
    """A page that was reclaimed or left, and the state of recurrent layers after it, if it was kept."""

    page: int
    record: PageRecord
    state: Any


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
    """`pages` were committed. `computed` of them hold a token that this context computed, and are charged;
    `deduplicated` were replaced by an equal page that already existed."""

    pages: int
    computed: int
    deduplicated: int


@dataclass(frozen=True, slots=True)
class Transcript:
    """All tokens of a context, enough to compute its content again. The first `committed` are in committed pages."""

    tokens: list[WorkingToken]
    committed: int

    @property
    def needs_adapter(self) -> bool:
        """Whether any token was computed with an adapter."""
        return any(token.adapter for token in self.tokens)


@dataclass(frozen=True, slots=True)
class Mark:
    """The state of a context before a pass, for `rollback`."""

    committed: int
    working: tuple[WorkingToken, ...]
    working_pages: int
    highest_position: int
    inherited_tokens: int
    state_pages: int = 0


class Rows(msgspec.Struct, frozen=True):
    """Destination of the next tokens of a context: slot numbers from `first` on, physical `slots` (page * page size +
    offset), and the pages of all slots up to the last of them."""

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
class SuspensionResult:
    """The result of a suspension.

    `freed` pages became available. `contents` lists what would be lost if all of them were reclaimed, in slot order. It
    can be read until pages are next requested.
    """

    freed: int
    contents: tuple[PageContent, ...]


@dataclass(frozen=True, slots=True)
class Restore:
    """The work that restores a context: loads from the store, copies and reads, then fills in order, then
    `finish_restore`.

    Of a model with recurrent layers, the fills go on from `state` or `stored_state`, and reach the last token. They
    compute also what is there: only the pages numbered in `written` are to be written (None: all of them).
    """

    attached: int
    copies: tuple[PageCopy, ...]
    reads: tuple[PageRead, ...]
    fills: tuple[Fill, ...]
    state: KeptState | None = None
    written: frozenset[int] | None = None
    stored: tuple[StoredPage, ...] = ()
    stored_state: StoredState | None = None

    @property
    def replayed_tokens(self) -> int:
        """Tokens that the fills compute."""
        return sum(len(fill.tokens) for fill in self.fills)

    @property
    def read_tokens(self) -> int:
        """Tokens of the pages that are read from a disk."""
        return sum(read.rows for read in self.reads) + sum(page.record.rows for page in self.stored)


@dataclass(frozen=True, slots=True)
class Opened:
    """A context made from a snapshot. It is off-pool (`resident` False) if some content must be restored first."""

    context: int
    copies: tuple[PageCopy, ...]
    notes: Any
    resident: bool


@dataclass(frozen=True, slots=True)
class PoolUsage:
    """Pages by state: capacity = free + cached + snapshot_only + used + withheld. `shared` is part of `used`."""

    capacity: int
    free: int
    cached: int
    snapshot_only: int
    used: int
    shared: int
    withheld: int = 0
