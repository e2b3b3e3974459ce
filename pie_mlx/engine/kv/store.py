"""The page store: all page accounting of one model behind one object."""

from collections.abc import Sequence
from typing import Any

from pie_mlx.calls import PageCounters
from pie_mlx.engine.kv.context_table import ContextTable
from pie_mlx.engine.kv.fills import adapters_in_use
from pie_mlx.engine.kv.holdings import Holdings, picture
from pie_mlx.engine.kv.image import Image, ImageKeeper
from pie_mlx.engine.kv.integrity import Books, check_integrity
from pie_mlx.engine.kv.keys import PageHasher
from pie_mlx.engine.kv.pool import PagePool
from pie_mlx.engine.kv.rollback import Undoer, mark
from pie_mlx.engine.kv.sharing import share_out
from pie_mlx.engine.kv.snapshot_limits import USUAL_LIMITS, SnapshotLimits
from pie_mlx.engine.kv.snapshots import SnapshotShelf
from pie_mlx.engine.kv.suspension import Suspender
from pie_mlx.engine.kv.transcripts import image_of
from pie_mlx.engine.kv.trie import PrefixTrie, chain_of
from pie_mlx.engine.kv.values import (
    CommitResult,
    Fork,
    Mark,
    Opened,
    PageCopy,
    PoolUsage,
    Rows,
    Transcript,
)
from pie_mlx.engine.kv.withheld import Withheld
from pie_mlx.engine.kv.working import PlainInput, RecordedInput, WorkingPages, pages_for
from pie_mlx.engine.kv.working_token import WorkingToken
from pie_mlx.errors import InvalidArgumentError


class PageStore:
    """Counts the pages of a pool: contexts, shared prefixes, suspended contexts and snapshots.

    Knows no tensor: an operation that needs content moved returns the copies and reads to do. Nothing waits: what
    does not fit the pages `available()` raises `OutOfPagesError`. A call that raises changed nothing. Not
    thread-safe. A context that was released raises `ContextReleasedError`; an operation on content of a context that
    is off-pool or being restored raises `IntegrityError`, because its caller has to restore it first.
    """

    def __init__(
        self,
        *,
        pages: int,
        page_size: int,
        identity: bytes,
        hasher: PageHasher | None = None,
        snapshot_limits: SnapshotLimits = USUAL_LIMITS,
    ) -> None:
        """`pages` pages of `page_size` tokens; `identity` names model, weights revision and KV dtype (K1)."""
        if pages < 1 or page_size < 1:
            raise InvalidArgumentError(
                f"page store: {pages} pages of {page_size} tokens", hint="both must be at least 1"
            )
        self.page_size = page_size
        self.pool = PagePool(pages)
        self._trie = PrefixTrie(self.pool)
        self.images = ImageKeeper(self.pool)
        self.contexts = ContextTable(self._trie.root)
        self._hasher = hasher or PageHasher(identity, page_size)
        self._working = WorkingPages(self._trie, self._hasher, page_size)
        self.suspender = Suspender(self.contexts, self._trie, self.images, self._working, page_size)
        self._undoer = Undoer(self._trie, self.images, self.suspender, page_size)
        self.snapshots = SnapshotShelf(self.contexts, self._trie, self.images, page_size, snapshot_limits)
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
        """Gives back all that the context holds (P15). Unknown numbers are ignored."""
        released = self.contexts.remove(context)
        if released is not None:
            self.suspender.release(released)

    def counters(self, context: int) -> PageCounters:
        """Committed pages, working pages and working tokens, wherever the content is (P9)."""
        return self.contexts[context].counters()

    def pages_of(self, context: int) -> int:
        """Committed and working pages, wherever the content is."""
        counters = self.contexts[context].counters()
        return counters.committed + counters.working

    def sequence_length(self, context: int) -> int:
        """Tokens whose KV the context has."""
        found = self.contexts[context]
        if found.image is None:
            return found.committed * self.page_size + len(found.working)
        return found.counters().sequence_length(self.page_size)

    # Working pages.

    def reserve(self, context: int, pages: int) -> None:
        """Adds empty working pages (P4). Raises InvalidArgumentError, OutOfPagesError."""
        self._working.reserve(self.contexts.resident(context), pages)

    def release_working(self, context: int, pages: int) -> None:
        """Frees the last working pages (P5). Raises InvalidArgumentError, PageBoundsError."""
        self._working.release(self.contexts.resident(context), pages)

    def truncate(self, context: int, tokens: int) -> None:
        """Forgets the last working tokens, keeps the pages (P6). Raises InvalidArgumentError, PageBoundsError."""
        self._working.truncate(self.contexts.resident(context), tokens)

    def commit(self, context: int, pages: int) -> CommitResult:
        """Commits leading working pages (P7). Raises InvalidArgumentError, PageBoundsError, PageCommitError."""
        return self._working.commit(self.contexts.resident(context), pages)

    def commit_full(self, context: int) -> CommitResult:
        """Commits the full working pages that positions allow (P10); never raises for positions."""
        return self._working.commit_full(self.contexts.resident(context))

    def pages_lacking(self, context: int, new_tokens: int) -> int:
        """Pages to reserve before `new_tokens` more tokens fit (P10). Also for an off-pool context."""
        counters = self.counters(context)
        return max(0, pages_for(counters.working_tokens + new_tokens, self.page_size) - counters.working)

    def pages_to_fork(self, context: int) -> int:
        """Pages that a copy of the working tokens takes (P13); 0 off-pool, where nothing is copied."""
        found = self.contexts[context]
        return pages_for(len(found.working), self.page_size) if found.image is None else 0

    def require_capacity(self, context: int, pages: int) -> None:
        """Raises OutOfPagesError when the context and `pages` more can never fit the pool (P4); also off-pool."""
        counters = self.counters(context)
        self._working.require_possible(counters.committed + counters.working, pages)

    def next_slots(self, context: int, count: int) -> list[int]:
        """Physical slots, page × page size + offset, of the next `count` tokens. Raises KvCapacityError."""
        return self._working.rows(self.contexts.resident(context), count).slots

    def next_rows(self, context: int, count: int) -> Rows:
        """Where the next `count` tokens go. Raises KvCapacityError."""
        return self._working.rows(self.contexts.resident(context), count)

    def table_for(self, context: int, length: int) -> Sequence[int] | None:
        """The block table the context will have when it holds `length` tokens, if nobody takes the page promised to it
        for that; None when no page is free, or more than one is missing."""
        return self._working.table_for(self.contexts.resident(context), length)

    def take_displaced(self) -> set[int]:
        """Contexts that were suspended since the last call, or lost what was promised them: somebody else may have
        written where `table_for` said that their next token will be, also if it is theirs again."""
        displaced, self.pool.displaced = self.pool.displaced, set()
        return displaced

    def append(self, context: int, tokens: Sequence[WorkingToken]) -> None:
        """After a pass: the next slots hold the KV of `tokens`. Raises KvCapacityError."""
        self._working.append(self.contexts.resident(context), tokens)

    def block_table(self, context: int) -> list[int]:
        """Committed, then working page ids in slot order, also while restoring.

        The store's own list: read it before the next call, do not change it.
        """
        return self.contexts.held(context).block_table

    def working_tokens(self, context: int) -> Sequence[WorkingToken]:
        """The working tokens, not copied: read them before the next call."""
        return self.contexts.resident(context).working

    def last_tokens(self, context: int, count: int) -> list[int]:
        """Ids of the last `count` tokens, all of them if there are not as many. Copies them."""
        found = self.contexts.resident(context)
        ids = [record.token for record in found.working]
        if count > len(ids):
            pages = chain_of(found.leaf)[-pages_for(count - len(ids), self.page_size) :]
            ids = [record.token for page in pages for record in page.tokens] + ids
        return ids[max(0, len(ids) - count) :]

    def attach_cached(
        self,
        context: int,
        tokens: Sequence[int],
        *,
        limit: int | None = None,
    ) -> int:
        """Attaches cached pages that continue the context with plain causal `tokens` without an adapter (K5-K7).

        Returns how many of `tokens` need not be computed. `limit` is the smallest input index whose logits are
        wanted (K6), None when none are.
        """
        found = self.contexts.resident(context)
        start = found.committed * self.page_size + len(found.working)
        return self._working.attach_cached(found, PlainInput(tokens, start), limit)

    def attach_records(self, context: int, tokens: Sequence[WorkingToken], *, limit: int | None = None) -> int:
        """`attach_cached` for tokens that are computed with adapters or seeds; `tokens` are causal, at the positions of
        their slots."""
        return self._working.attach_cached(self.contexts.resident(context), RecordedInput(tokens), limit)

    def next_page_key(self, context: int, tokens: Sequence[WorkingToken]) -> bytes | None:
        """The key of the page that `tokens` begin, None where that is none of their own."""
        return self._working.next_key(self.contexts.resident(context), tokens)

    def mark(self, context: int) -> Mark:
        """The context as it is now, to be given to `rollback` if the pass that begins fails."""
        return mark(self.contexts.resident(context))

    def rollback(self, context: int, before: Mark) -> tuple[PageCopy, ...]:
        """Back to `before`: undoes what `attach_cached`, `reserve`, `append` and `commit_full` did since (E6). Never
        raises for pages.

        A context that is off-pool, or whose old working pages find no room, is off-pool afterwards.
        """
        return self._undoer.rollback(self.contexts[context], before)

    # The pool.

    @property
    def capacity(self) -> int:
        """Pages in the pool."""
        return self.pool.capacity

    def available(self) -> int:
        """Pages that can be had without suspending anyone (K8): free, cached, held by snapshots only."""
        return self.pool.available()

    def shared_pages(self) -> int:
        """Pages that more than one resident context holds. Walks all held segments."""
        return share_out(self.contexts).shared_pages

    def usage(self, shared_pages: int | None = None) -> PoolUsage:
        """Where the pages are; `shared_pages` when the caller knows them, as counting them is what takes time."""
        pool = self.pool
        free, cached, snapshot_only = pool.free_pages, pool.cached.pages, pool.snapshot_only.pages
        used = pool.capacity - free - cached - snapshot_only - self.withheld.count
        shared = self.shared_pages() if shared_pages is None else shared_pages
        return PoolUsage(pool.capacity, free, cached, snapshot_only, used, shared, self.withheld.count)

    def effective_pages(self, context: int) -> float:
        """K9 for one context; 0.0 off-pool."""
        self.contexts[context]
        return self.effective_pages_all().get(context, 0.0)

    def effective_pages_all(self) -> dict[int, float]:
        """K9 for every resident context; the sum is the pages they hold."""
        return share_out(self.contexts).effective

    # Suspension.

    def is_resident(self, context: int) -> bool:
        """Whether the context holds its pages; True from `restore` on."""
        return self.contexts[context].resident

    def is_restoring(self, context: int) -> bool:
        """Whether the context is between `restore` and `finish_restore`."""
        return self.contexts[context].restoring

    def is_usable(self, context: int) -> bool:
        """Whether passes and page operations are allowed: in the pool and not being restored."""
        return self.contexts[context].image is None

    def holdings(self) -> Holdings:
        """What every context could give, and what must go together."""
        return picture(self.contexts, self._trie)

    def adapters_in_use(self) -> set[tuple[int, int]]:
        """Adapters (id, version) that fills of contexts and snapshots refer to (R5). Walks all tokens."""
        return adapters_in_use(self.contexts, self.snapshots.images())

    # Snapshots.

    def put_snapshot(self, user: str, name: str, transcript: Transcript, notes: Any, notes_bytes: int = 0) -> None:
        """A snapshot from elsewhere, whose content is computed when somebody opens it."""
        self.snapshots.put(user, name, image_of(transcript, self._hasher, self.page_size), notes, notes_bytes)

    def open(self, user: str, name: str) -> Opened | None:
        """A new context like the snapshot, which stays (N4); None when absent."""
        snapshot = self.snapshots.find(user, name)
        if snapshot is None:
            return None
        return self._open(self.snapshots.copy_image(snapshot), snapshot.notes)

    def take(self, user: str, name: str) -> Opened | None:
        """A new context from the snapshot, which is gone (N4); None when absent."""
        snapshot = self.snapshots.remove(user, name)
        return None if snapshot is None else self._open(snapshot.image, snapshot.notes)

    def check_integrity(self) -> None:
        """Raises IntegrityError when the books do not balance. Walks everything: for tests and idle moments."""
        books = Books(self._trie, self._hasher, self.page_size, self.contexts, self.snapshots.all())
        check_integrity(books)
        self.snapshots.check_integrity()

    def _open(self, image: Image, notes: Any) -> Opened:
        context = self.contexts.new()
        context.image = image
        copies = self.suspender.restore_without_work(context)
        return Opened(context.number, copies, notes, context.resident)
