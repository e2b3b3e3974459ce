"""The page store: all page accounting of one model behind one object."""

import itertools
from collections.abc import Iterator
from typing import Any

from pie_mlx.engine.kv.contexts.context import ContextTable, Holdings, Sharing, picture, share_out
from pie_mlx.engine.kv.contexts.fills import adapters_in_use, image_of, lasting_pages
from pie_mlx.engine.kv.contexts.misses import Misses
from pie_mlx.engine.kv.contexts.rollback import Undoer
from pie_mlx.engine.kv.contexts.states import ContextStates
from pie_mlx.engine.kv.contexts.suspension import Suspender
from pie_mlx.engine.kv.contexts.working import WorkingPages, pages_for
from pie_mlx.engine.kv.integrity import Books, check_integrity
from pie_mlx.engine.kv.pages.image import Image, ImageKeeper
from pie_mlx.engine.kv.pages.kept_states import KeptStates
from pie_mlx.engine.kv.pages.pool import PagePool, Withheld
from pie_mlx.engine.kv.pages.record import PageHasher, PageRecord
from pie_mlx.engine.kv.pages.trie import PrefixTrie, chain_of, path
from pie_mlx.engine.kv.pages.values import (
    Fork,
    Lasting,
    Opened,
    PoolUsage,
    Transcript,
)
from pie_mlx.engine.kv.snapshot_limits import USUAL_LIMITS, SnapshotLimits
from pie_mlx.engine.kv.snapshots import SnapshotStore
from pie_mlx.errors import InvalidArgumentError


class PageStore:
    """Counts the pages of a pool: contexts, shared prefixes, suspended contexts and snapshots.

    Each part has its own attribute: `pool` (the pages), `contexts` (what each context holds), `working` (pages of
    contexts in the pool), `misses` (why pages were not cached), `suspender` (suspend and restore), `undoer` (failed
    passes), `images` (content outside the pool), `snapshots`, and `states` (what recurrent layers remember, opaque
    here). All of them identify contexts by number.

    The store knows no tensors: an operation that must move content returns the copies and reads to do. Nothing waits: a
    request for more than `pool.available()` pages raises OutOfPagesError. A call that raises changes nothing. Not
    thread-safe. A released context raises ContextReleasedError. An operation on the content of a context that is
    off-pool or being restored raises IntegrityError: the caller must restore it first.
    """

    def __init__(
        self,
        *,
        pages: int,
        page_size: int,
        identity: bytes,
        hasher: PageHasher | None = None,
        snapshot_limits: SnapshotLimits = USUAL_LIMITS,
        state_pages: int = 0,
        kept_state_bytes: int = 0,
        numbers: Iterator[int] | None = None,
    ) -> None:
        """`pages` pages of `page_size` tokens; `identity` stands for configuration, weights and KV dtype (K1).

        Of a model with recurrent layers, the state of each context costs `state_pages`, and other states that are kept
        take `kept_state_bytes` at most. Contexts get their `numbers` from there, which only grow; from 1 on without.
        """
        if pages < 1 or page_size < 1:
            raise InvalidArgumentError(
                f"page store: {pages} pages of {page_size} tokens", hint="both must be at least 1"
            )
        self.page_size = page_size
        self.pool = PagePool(pages, KeptStates(kept_state_bytes))
        self._trie = PrefixTrie(self.pool)
        self.images = ImageKeeper(self.pool)
        self.contexts = ContextTable(self._trie.root, numbers or itertools.count(1))
        self._hasher = hasher or PageHasher(identity, page_size)
        self.working = WorkingPages(self.contexts, self._trie, self._hasher, page_size, state_pages)
        self.misses = Misses(self.contexts, self._hasher, self.pool.evictions, page_size)
        self.states = ContextStates(self.contexts, self.pool, page_size, state_pages)
        self.suspender = Suspender(
            self.contexts, self._trie, self.images, self.working, page_size, recurrent=state_pages > 0
        )
        self.undoer = Undoer(self.contexts, self._trie, self.images, self.suspender, page_size)
        self.snapshots = SnapshotStore(self.contexts, self._trie, self.images, page_size, snapshot_limits)
        self.withheld = Withheld(self.pool)

    # Contexts.

    def create(self) -> int:
        """A new empty context; numbers only grow."""
        return self.contexts.new().number

    def fork(self, context: int) -> Fork:
        """A context with the same committed pages and copied working tokens (P13); off-pool like its source (P14).

        Raises OutOfPagesError when the copies do not fit now.
        """
        source = self.contexts[context]
        child = self.contexts.new()
        try:
            return Fork(child.number, self.suspender.fork(source, child))
        except BaseException:
            self.contexts.remove(child.number)
            raise

    def release(self, context: int) -> None:
        """Frees everything that the context holds (P15). Unknown numbers are ignored."""
        released = self.contexts.remove(context)
        if released is not None:
            leaf = released.leaf
            if self.pool.notes_evicted and released.usable and not self.states.pages_each:
                self.pool.note_evicted(self.working.left(released))
            self.suspender.release(released)
            if released.demoted:
                self._trie.demote(leaf)

    def keep(self, context: int, until: float, priority: float) -> int:
        """Keeps the committed pages of a context, also when it is released, until then (in seconds of the pool's
        clock), longer than those of a lower priority; their number."""
        found = self.contexts[context]
        return self._trie.keep(found.leaf, until, priority)

    def sequence_length(self, context: int) -> int:
        """Tokens with KV in the context."""
        found = self.contexts[context]
        if found.image is None:
            return found.committed * self.page_size + len(found.working)
        return found.counters().sequence_length(self.page_size)

    def pages_to_fork(self, context: int) -> int:
        """Pages that a fork copies (P13): those of the working tokens. 0 off-pool, where nothing is copied."""
        found = self.contexts[context]
        return pages_for(len(found.working), self.page_size) if found.image is None else 0

    def last_tokens(self, context: int, count: int) -> list[int]:
        """Ids of the last `count` tokens, or of all if there are fewer. Copies them."""
        found = self.contexts.usable(context)
        ids = [record.token for record in found.working]
        if count > len(ids):
            pages = chain_of(found.leaf)[-pages_for(count - len(ids), self.page_size) :]
            ids = [record.token for page in pages for record in page.tokens] + ids
        return ids[max(0, len(ids) - count) :]

    # The pool.

    def lasting_pages(self) -> Iterator[PageRecord]:
        """The full pages in the pool that may outlive the engine, parents before their children: those of contexts,
        then the latest used ones."""
        leaves = [context.leaf for context in self.contexts]
        for lru in (self.pool.snapshot_only, self.pool.kept, self.pool.cached):
            leaves += reversed(lru.segments)
        segments = dict.fromkeys(segment for leaf in leaves for segment in path(leaf))
        for segment in segments:
            yield from (record for record in segment.pages if record.key and record.stored_for is not None)

    def lasting_pages_of(self, context: int) -> list[Lasting]:
        """The lasting pages of one context, in the pool or not, committed or not."""
        return lasting_pages(self.contexts[context], self._hasher, self.page_size)

    @property
    def used_pages(self) -> int:
        """Pages that contexts hold."""
        pool = self.pool
        return pool.capacity - pool.free_pages - pool.cached_pages - pool.snapshot_only.pages - self.withheld.count

    def usage(self, sharing: Sharing | None = None) -> PoolUsage:
        """Pages by state. Pass `sharing` if known: it walks all contexts."""
        pool, sharing = self.pool, sharing or share_out(self.contexts)
        return PoolUsage(
            pool.capacity,
            pool.free_pages,
            pool.cached_pages,
            pool.snapshot_only.pages,
            self.used_pages,
            sharing.shared_pages,
            self.withheld.count,
        )

    def holdings(self) -> Holdings:
        """Per context, the pages it could free and the pages that it shares."""
        return picture(self.contexts, self._trie)

    def adapters_in_use(self) -> set[tuple[int, int]]:
        """Adapters (id, version) that fills of contexts and snapshots refer to (R5). Walks all tokens."""
        return adapters_in_use(self.contexts, self.snapshots.images())

    # Snapshots.

    def put_snapshot(self, user: str, name: str, transcript: Transcript, notes: Any, notes_bytes: int = 0) -> None:
        """Stores a snapshot without KV, which is computed when it is opened."""
        self.snapshots.put(user, name, image_of(transcript, self._hasher, self.page_size, user), notes, notes_bytes)

    def open(self, user: str, name: str) -> Opened | None:
        """Opens a copy of the snapshot, which stays (N4). None if absent."""
        snapshot = self.snapshots.find(user, name)
        if snapshot is None:
            return None
        return self._open(self.snapshots.copy_image(snapshot), snapshot.notes)

    def take(self, user: str, name: str) -> Opened | None:
        """Opens the snapshot and removes it (N4). None if absent."""
        snapshot = self.snapshots.remove(user, name)
        return None if snapshot is None else self._open(snapshot.image, snapshot.notes)

    def check_integrity(self) -> None:
        """Raises IntegrityError if the store contradicts itself. Walks everything: for tests and idle moments."""
        books = Books(self._trie, self._hasher, self.page_size, self.contexts, self.snapshots.all())
        check_integrity(books)
        self.snapshots.check_integrity()

    def _open(self, image: Image, notes: Any) -> Opened:
        context = self.contexts.new()
        context.image = image
        copies = self.suspender.restore_without_work(context)
        return Opened(context.number, copies, notes, context.resident)
