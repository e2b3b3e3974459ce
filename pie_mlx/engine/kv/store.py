"""The page store: all page accounting of one model behind one object."""

from collections.abc import Collection, Iterable, Sequence
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
from pie_mlx.engine.kv.transcripts import image_of, transcript_of
from pie_mlx.engine.kv.trie import PrefixTrie, chain_of
from pie_mlx.engine.kv.values import (
    CommitResult,
    Fork,
    Mark,
    Opened,
    PageContent,
    PageCopy,
    PoolUsage,
    Restore,
    Rows,
    SaveResult,
    SpillKey,
    Suspension,
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
        self._pool = PagePool(pages)
        self._trie = PrefixTrie(self._pool)
        self._images = ImageKeeper(self._pool)
        self._hasher = hasher or PageHasher(identity, page_size)
        self._working = WorkingPages(self._trie, self._hasher, page_size)
        self._suspender = Suspender(self._trie, self._images, self._working, page_size)
        self._undoer = Undoer(self._trie, self._images, self._suspender, page_size)
        self._snapshots = SnapshotShelf(self._trie, self._images, page_size, snapshot_limits)
        self._contexts = ContextTable(self._trie.root)
        self.withheld = Withheld(self._pool)

    # Contexts.

    def create(self) -> int:
        """A new empty context; numbers only grow."""
        return self._contexts.new().number

    def fork(self, context: int) -> Fork:
        """A context with the same committed pages and copied working tokens (P13); off-pool like its source (P14).

        Raises OutOfPagesError when the copies do not fit now.
        """
        source = self._contexts.get(context)
        child = self._contexts.new()
        try:
            return Fork(child.number, self._suspender.fork(source, child))
        except BaseException:
            self._contexts.remove(child.number)
            raise

    def release(self, context: int) -> None:
        """Gives back all that the context holds (P15). Unknown numbers are ignored."""
        released = self._contexts.remove(context)
        if released is not None:
            self._pool.break_promise(context)
            self._suspender.release(released)

    def exists(self, context: int) -> bool:
        """Whether the context was created and not released."""
        return context in self._contexts

    def counters(self, context: int) -> PageCounters:
        """Committed pages, working pages and working tokens, wherever the content is (P9)."""
        return self._contexts.get(context).counters()

    def pages_of(self, context: int) -> int:
        """Committed and working pages, wherever the content is."""
        counters = self._contexts.get(context).counters()
        return counters.committed + counters.working

    def sequence_length(self, context: int) -> int:
        """Tokens whose KV the context has."""
        found = self._contexts.get(context)
        if found.image is None:
            return found.committed * self.page_size + len(found.working)
        return found.counters().sequence_length(self.page_size)

    # Working pages.

    def reserve(self, context: int, pages: int) -> None:
        """Adds empty working pages (P4). Raises InvalidArgumentError, OutOfPagesError."""
        self._working.reserve(self._contexts.resident(context), pages)

    def release_working(self, context: int, pages: int) -> None:
        """Frees the last working pages (P5). Raises InvalidArgumentError, PageBoundsError."""
        self._working.release(self._contexts.resident(context), pages)

    def truncate(self, context: int, tokens: int) -> None:
        """Forgets the last working tokens, keeps the pages (P6). Raises InvalidArgumentError, PageBoundsError."""
        self._working.truncate(self._contexts.resident(context), tokens)

    def commit(self, context: int, pages: int) -> CommitResult:
        """Commits leading working pages (P7). Raises InvalidArgumentError, PageBoundsError, PageCommitError."""
        return self._working.commit(self._contexts.resident(context), pages)

    def commit_full(self, context: int) -> CommitResult:
        """Commits the full working pages that positions allow (P10); never raises for positions."""
        return self._working.commit_full(self._contexts.resident(context))

    def pages_lacking(self, context: int, new_tokens: int) -> int:
        """Pages to reserve before `new_tokens` more tokens fit (P10). Also for an off-pool context."""
        counters = self.counters(context)
        return max(0, pages_for(counters.working_tokens + new_tokens, self.page_size) - counters.working)

    def pages_to_fork(self, context: int) -> int:
        """Pages that a copy of the working tokens takes (P13); 0 off-pool, where nothing is copied."""
        found = self._contexts.get(context)
        return pages_for(len(found.working), self.page_size) if found.image is None else 0

    def require_capacity(self, context: int, pages: int) -> None:
        """Raises OutOfPagesError when the context and `pages` more can never fit the pool (P4); also off-pool."""
        counters = self.counters(context)
        self._working.require_possible(counters.committed + counters.working, pages)

    def next_slots(self, context: int, count: int) -> list[int]:
        """Physical slots, page × page size + offset, of the next `count` tokens. Raises KvCapacityError."""
        return self._working.rows(self._contexts.resident(context), count).slots

    def next_rows(self, context: int, count: int) -> Rows:
        """Where the next `count` tokens go. Raises KvCapacityError."""
        return self._working.rows(self._contexts.resident(context), count)

    def table_for(self, context: int, length: int) -> Sequence[int] | None:
        """The block table the context will have when it holds `length` tokens, if nobody takes the page promised to it
        for that; None when no page is free, or more than one is missing."""
        return self._working.table_for(self._contexts.resident(context), length)

    def take_displaced(self) -> set[int]:
        """Contexts that were suspended since the last call, or lost what was promised them: somebody else may have
        written where `table_for` said that their next token will be, also if it is theirs again."""
        displaced, self._pool.displaced = self._pool.displaced, set()
        return displaced

    def append(self, context: int, tokens: Sequence[WorkingToken]) -> None:
        """After a pass: the next slots hold the KV of `tokens`. Raises KvCapacityError."""
        self._working.append(self._contexts.resident(context), tokens)

    def block_table(self, context: int) -> list[int]:
        """Committed, then working page ids in slot order, also while restoring.

        The store's own list: read it before the next call, do not change it.
        """
        return self._contexts.held(context).block_table

    def working_tokens(self, context: int) -> Sequence[WorkingToken]:
        """The working tokens, not copied: read them before the next call."""
        return self._contexts.resident(context).working

    def last_tokens(self, context: int, count: int) -> list[int]:
        """Ids of the last `count` tokens, all of them if there are not as many. Copies them."""
        found = self._contexts.resident(context)
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
        found = self._contexts.resident(context)
        start = found.committed * self.page_size + len(found.working)
        return self._working.attach_cached(found, PlainInput(tokens, start), limit)

    def attach_records(self, context: int, tokens: Sequence[WorkingToken], *, limit: int | None = None) -> int:
        """`attach_cached` for tokens that are computed with adapters or seeds; `tokens` are causal, at the positions of
        their slots."""
        return self._working.attach_cached(self._contexts.resident(context), RecordedInput(tokens), limit)

    def next_page_key(self, context: int, tokens: Sequence[WorkingToken]) -> bytes | None:
        """The key of the page that `tokens` begin, None where that is none of their own."""
        return self._working.next_key(self._contexts.resident(context), tokens)

    def mark(self, context: int) -> Mark:
        """The context as it is now, to be given to `rollback` if the pass that begins fails."""
        return mark(self._contexts.resident(context))

    def rollback(self, context: int, before: Mark) -> tuple[PageCopy, ...]:
        """Back to `before`: undoes what `attach_cached`, `reserve`, `append` and `commit_full` did since (E6). Never
        raises for pages.

        A context that is off-pool, or whose old working pages find no room, is off-pool afterwards.
        """
        return self._undoer.rollback(self._contexts.get(context), before)

    # The pool.

    @property
    def capacity(self) -> int:
        """Pages in the pool."""
        return self._pool.capacity

    def available(self) -> int:
        """Pages that can be had without suspending anyone (K8): free, cached, held by snapshots only."""
        return self._pool.available()

    def shared_pages(self) -> int:
        """Pages that more than one resident context holds. Walks all held segments."""
        return share_out(self._contexts).shared_pages

    def usage(self, shared_pages: int | None = None) -> PoolUsage:
        """Where the pages are; `shared_pages` when the caller knows them, as counting them is what takes time."""
        pool = self._pool
        free, cached, snapshot_only = pool.free_pages, pool.cached.pages, pool.snapshot_only.pages
        used = pool.capacity - free - cached - snapshot_only - self.withheld.count
        shared = self.shared_pages() if shared_pages is None else shared_pages
        return PoolUsage(pool.capacity, free, cached, snapshot_only, used, shared, self.withheld.count)

    def effective_pages(self, context: int) -> float:
        """K9 for one context; 0.0 off-pool."""
        self._contexts.get(context)
        return self.effective_pages_all().get(context, 0.0)

    def effective_pages_all(self) -> dict[int, float]:
        """K9 for every resident context; the sum is the pages they hold."""
        return share_out(self._contexts).effective

    # Suspension.

    def is_resident(self, context: int) -> bool:
        """Whether the context holds its pages; True from `restore` on."""
        return self._contexts.get(context).resident

    def off_pool(self, contexts: Iterable[int]) -> list[int]:
        """Those of `contexts` that do not hold their pages. Numbers that were released are ignored."""
        found = map(self._contexts.find, contexts)
        return [item.number for item in found if item is not None and item.image is not None and not item.restoring]

    def is_restoring(self, context: int) -> bool:
        """Whether the context is between `restore` and `finish_restore`."""
        return self._contexts.get(context).restoring

    def is_usable(self, context: int) -> bool:
        """Whether passes and page operations are allowed: in the pool and not being restored."""
        return self._contexts.get(context).image is None

    def holdings(self) -> Holdings:
        """What every context could give, and what must go together."""
        return picture(self._contexts, self._trie)

    def suspend(self, context: int) -> Suspension:
        """Gives all pages back (R1). Off-pool already: nothing. While restoring: the restore is dropped."""
        self._pool.break_promise(context)
        return self._suspender.suspend(self._contexts.get(context))

    def restore_need(self, context: int) -> int:
        """Pages an off-pool context needs to return: working ones, and committed ones no resident holds (M6)."""
        return self._suspender.restore_need(self._contexts.get(context))

    def restore(self, context: int) -> Restore:
        """Takes the pages an off-pool context needs and says how to fill them (R4). Raises OutOfPagesError.

        Do the copies, reads and fills, then call `finish_restore`; until then only `block_table`, `suspend`,
        `release`, `fork`, `save` and the figures are allowed.
        """
        return self._suspender.restore(self._contexts.get(context))

    def finish_restore(self, context: int) -> None:
        """The content is there again: pages are shared with whoever holds equal ones, and the context is usable."""
        self._suspender.finish(self._contexts.get(context))

    def mark_spilled(self, content: PageContent, key: SpillKey) -> None:
        """`content` was written to the spill file as `key`."""
        self._images.mark_spilled(content, key)

    def forget_spills(self, context: int, keys: Collection[SpillKey]) -> None:
        """Pages of an off-pool context turned out to be unreadable: its next `restore` replays them."""
        image = self._contexts.get(context).image
        if image is not None:
            self._images.forget_spills(image, keys)

    def take_lost(self) -> tuple[PageContent, ...]:
        """Content reclaimed since the last call that somebody off-pool will want and that is not spilled.

        It is still in its page until the next pass, copy or read writes there: spill it now or it will be replayed.
        """
        lost = tuple(self._pool.lost)
        self._pool.lost.clear()
        return lost

    def take_released_spills(self) -> tuple[SpillKey, ...]:
        """Spill keys nobody needs any more. Call it after the reads of a restore were done."""
        return self._images.take_released()

    def adapters_in_use(self) -> set[tuple[int, int]]:
        """Adapters (id, version) that fills of contexts and snapshots refer to (R5). Walks all tokens."""
        return adapters_in_use(self._contexts, self._snapshots.images())

    # Snapshots.

    def fresh_snapshot_name(self) -> str:
        """A name no user can choose, for one `save` (N3)."""
        return self._snapshots.fresh_name()

    def require_snapshot_room(self, context: int, user: str, name: str, notes_bytes: int) -> None:
        """Raises SnapshotError when the user keeps too much already for `save` to keep the context under that name."""
        self._snapshots.require_room(self._contexts.get(context), user, name, notes_bytes)

    def is_overfull(self, user: str) -> bool:
        """Whether the user keeps more snapshots than is allowed, by way of `put_snapshot`."""
        return self._snapshots.is_overfull(user)

    def save(self, context: int, user: str, name: str, notes: Any, notes_bytes: int = 0) -> SaveResult:
        """Saves the context and the caller's `notes`, replacing the user's snapshot of that name (N2).

        Raises InvalidArgumentError, and SnapshotError when the user keeps too much already; never for lack of pages:
        without room the working tokens are replayed when opened.
        """
        found = self._contexts.get(context)
        return SaveResult(self._snapshots.save(found, user, name, notes, notes_bytes))

    def transcript(self, context: int) -> Transcript:
        """All tokens of a context, wherever its content is."""
        return transcript_of(self._contexts.get(context))

    def put_snapshot(self, user: str, name: str, transcript: Transcript, notes: Any, notes_bytes: int = 0) -> None:
        """A snapshot from elsewhere, whose content is computed when somebody opens it."""
        self._snapshots.put(user, name, image_of(transcript, self._hasher, self.page_size), notes, notes_bytes)

    def has_snapshot(self, user: str, name: str) -> bool:
        """Whether the user has a snapshot of that name."""
        return self._snapshots.find(user, name) is not None

    def open(self, user: str, name: str) -> Opened | None:
        """A new context like the snapshot, which stays (N4); None when absent."""
        snapshot = self._snapshots.find(user, name)
        if snapshot is None:
            return None
        return self._open(self._snapshots.copy_image(snapshot), snapshot.notes)

    def take(self, user: str, name: str) -> Opened | None:
        """A new context from the snapshot, which is gone (N4); None when absent."""
        snapshot = self._snapshots.remove(user, name)
        return None if snapshot is None else self._open(snapshot.image, snapshot.notes)

    def delete(self, user: str, name: str) -> None:
        """Drops a snapshot. Raises SnapshotNotFoundError."""
        self._snapshots.delete(user, name)

    def check_integrity(self) -> None:
        """Raises IntegrityError when the books do not balance. Walks everything: for tests and idle moments."""
        books = Books(self._trie, self._hasher, self.page_size, self._contexts, self._snapshots.all())
        check_integrity(books)
        self._snapshots.check_integrity()

    def _open(self, image: Image, notes: Any) -> Opened:
        context = self._contexts.new()
        context.image = image
        copies = self._suspender.restore_without_work(context)
        return Opened(context.number, copies, notes, context.resident)
