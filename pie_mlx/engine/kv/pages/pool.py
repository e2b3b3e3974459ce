"""The pool of page ids: which are free, which can be reclaimed, and in what order."""

import time
from bisect import bisect
from collections import OrderedDict, deque
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import count

from pie_mlx.engine.kv.pages.evictions import Eviction, Evictions
from pie_mlx.engine.kv.pages.kept_states import KeptStates
from pie_mlx.engine.kv.pages.record import (
    NOBODY,
    SYSTEM,
    IntegrityError,
    Owner,
    PageRecord,
    Segment,
    resident_page,
)
from pie_mlx.engine.kv.pages.values import Evicted, PageContent
from pie_mlx.errors import OutOfPagesError

GONE = 64
"""Entries of segments that have left, beyond one for each that is here, before they are forgotten."""


class LruSegments:
    """Segments that no live context holds, least recently used first, each with the number of its use.

    Parents are released after their children and so come after them: the first segment is always a leaf.
    """

    __slots__ = ("_uses", "pages", "segments")

    def __init__(self) -> None:
        self.segments: OrderedDict[Segment, int] = OrderedDict()
        self.pages = 0
        self._uses = count()

    def put(self, segment: Segment) -> None:
        self.segments[segment] = next(self._uses)
        self.pages += len(segment.pages)

    def remove(self, segment: Segment) -> None:
        del self.segments[segment]
        self.pages -= len(segment.pages)

    def first(self) -> Segment:
        """The segment whose pages go first."""
        return next(iter(self.segments))


class KeptSegments(LruSegments):
    """Those that are kept for some time. Of them the lowest priority goes first, then the least recently used.

    Neither time nor priority of a segment changes while it is here.
    """

    __slots__ = ("_by_end", "_by_priority")

    def __init__(self) -> None:
        super().__init__()
        self._by_priority: list[tuple[float, int, Segment]] = []
        self._by_end: list[tuple[float, int, Segment]] = []

    def put(self, segment: Segment) -> None:
        super().put(segment)
        use = self.segments[segment]
        for heap, order in ((self._by_priority, segment.kept_priority), (self._by_end, segment.kept_until)):
            if len(heap) > 2 * len(self.segments) + GONE:
                heap[:] = filter(self._is_here, heap)
                heapify(heap)
            heappush(heap, (order, use, segment))

    def first(self) -> Segment:
        while not self._is_here(self._by_priority[0]):
            heappop(self._by_priority)
        return self._by_priority[0][-1]

    def pop_over(self, now: float) -> list[Segment]:
        """Remove those whose time is over; the least recently used first."""
        over: list[tuple[int, Segment]] = []
        while self._by_end and self._by_end[0][0] <= now:
            entry = heappop(self._by_end)
            if self._is_here(entry):
                over.append(entry[1:])
        segments = [segment for _, segment in sorted(over)]
        for segment in segments:
            self.remove(segment)
        return segments

    def _is_here(self, entry: tuple[float, int, Segment]) -> bool:
        """Whether the entry is of a segment that has not left since."""
        return self.segments.get(entry[-1]) == entry[1]


class PagePool:
    """Page ids 0 .. capacity - 1, each free, reclaimable (cached or held by snapshots only), in use or withheld.

    A free page may be promised to a context, which gets it at its next request unless another context needs it first.
    Pages of one context are neighbours where possible, so that attention reads them in place. `displaced` are the
    contexts whose promise was broken, `states` those of recurrent layers that are kept after some pages, `evictions`
    those of late. Once it `notes_evicted`, it notes full pages that were reclaimed and may outlive the engine.
    """

    def __init__(
        self, capacity: int, states: KeptStates | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.capacity = capacity
        self.clock = clock
        self.kept_states = KeptStates(0) if states is None else states
        self.free_ids = dict.fromkeys(range(capacity - 1, -1, -1))
        self.promised: dict[int, int] = {}
        self.displaced: set[int] = set()
        self.withheld: list[int] = []
        self.cached = LruSegments()
        self.kept = KeptSegments()
        self.snapshot_only = LruSegments()
        self.lost: deque[PageContent] = deque(maxlen=capacity)
        self.evictions = Evictions()
        self.notes_evicted = False
        self._evicted: deque[Evicted] = deque(maxlen=capacity)

    def available(self) -> int:
        """Pages available without suspending a context (K8): free, cached, or held by snapshots only."""
        return self.free_pages + self.cached_pages + self.snapshot_only.pages

    @property
    def cached_pages(self) -> int:
        """Pages that neither a context nor a snapshot holds."""
        return self.cached.pages + self.kept.pages

    @property
    def free_pages(self) -> int:
        """Free pages, promised ones included."""
        return len(self.free_ids) + len(self.promised)

    def promise(self, context: int, after: int | None = None) -> int | None:
        """Promises a free page to `context`, the first page of its next `allocate`. None if no page is free."""
        if context not in self.promised and self.free_ids:
            self.promised[context] = self._pop(after)
        return self.promised.get(context)

    def break_promise(self, context: int) -> None:
        """Frees the page promised to `context`, if any, and marks the context `displaced`."""
        self.displaced.add(context)
        if context in self.promised:
            self.free_ids[self.promised.pop(context)] = None

    def pop_displaced(self) -> set[int]:
        """Contexts that were suspended, truncated, or lost a promised page since the last call. Their next token may no
        longer go where `WorkingPages.table_for` said, others have written there since, or it follows other tokens."""
        displaced, self.displaced = self.displaced, set()
        return displaced

    def allocate(
        self, pages: int, context: int | None = None, after: int | None = None, *, owner: Owner = NOBODY
    ) -> list[int]:
        """Allocates `pages` page ids: promised to `context`, then free, promised to others, cached, kept,
        snapshot-only.

        They follow `after` and each other where possible. They are for `owner`. If it raises OutOfPagesError,
        nothing changed.
        """
        self.require(pages)
        promised = None if context is None or not pages else self.promised.pop(context, None)
        taken = [] if promised is None else [promised]
        first = len(taken)
        while self.promised and len(self.free_ids) < pages - len(taken):
            self.break_promise(next(iter(self.promised)))
        for _ in range(min(pages - len(taken), len(self.free_ids))):
            taken.append(self._pop(taken[-1] if taken else after))
        if len(taken) < pages:
            eviction = self.evictions.now(owner)
            self._end_keeping()
            found = sorted([*taken[first:], *(self._reclaim(eviction) for _ in range(pages - len(taken)))])
            last = promised if promised is not None else -1 if after is None else after
            following = bisect(found, last)
            taken[first:] = found[following:] + found[:following]
        return taken

    def pop_lost(self) -> tuple[PageContent, ...]:
        """Content reclaimed since the last call that an image needs and that is not spilled.

        It stays in its page until the next pass, copy or read writes there. If it is not spilled before that, it is
        replayed later.
        """
        lost = tuple(self.lost)
        self.lost.clear()
        return lost

    def note_evicted(self, left: Evicted | None) -> None:
        """A page that is about to be freed, with content that may outlive the engine."""
        if left is not None:
            self._evicted.append(left)

    def pop_evicted(self) -> list[Evicted]:
        """Pages reclaimed, or left by contexts, since the last call, parents before their children. Their content stays
        as long as that of `pop_lost`."""
        evicted = list(self._evicted)
        self._evicted.clear()
        evicted.reverse()
        return evicted

    def reclaim_cached(self) -> list[int]:
        """Reclaims all cached pages and forgets their content."""
        eviction = self.evictions.now(SYSTEM)
        return [self._reclaim(eviction) for _ in range(self.cached_pages)]

    def _pop(self, after: int | None) -> int:
        """A free page: the one after `after` if it is free, else the one freed last."""
        if after is not None and after + 1 in self.free_ids:
            del self.free_ids[after + 1]
            return after + 1
        return self.free_ids.popitem()[0]

    def require(self, pages: int) -> None:
        """Raises OutOfPagesError unless `pages` pages are available."""
        if pages > self.capacity:
            raise never_fits(pages, self.capacity)
        if pages > self.available():
            raise OutOfPagesError(
                f"{pages} pages are not available now: {self.available()} of {self.capacity} are",
                hint="wait until other contexts release pages",
                needed=pages,
                capacity=self.capacity,
            )

    def free(self, pages: list[int]) -> None:
        """Returns `pages` to the free list."""
        self.free_ids.update(dict.fromkeys(reversed(pages)))

    def list_reclaimable(self, segment: Segment) -> None:
        """Makes `segment` the most recently used of its LRU list, if no live context holds it."""
        self.unlist(segment)
        if segment.contexts == 0 and segment.pages:
            if 0 < segment.kept_until <= self.clock():
                segment.kept_until = segment.kept_priority = 0.0
                self._end_keeping()  # of its children too, which must not outlast it
            segment.used_seconds = self.clock()
            self._lru_for(segment).put(segment)

    def unlist(self, segment: Segment) -> None:
        """Removes `segment` from its LRU list, if it is in one."""
        lru = self.lru_of(segment)
        if lru is not None:
            lru.remove(segment)

    def lru_of(self, segment: Segment) -> LruSegments | None:
        """The LRU list that contains `segment`; None if a live context holds it."""
        for lru in (self.cached, self.kept, self.snapshot_only):
            if segment in lru.segments:
                return lru
        return None

    def _lru_for(self, segment: Segment) -> LruSegments:
        if segment.snapshots:
            return self.snapshot_only
        return self.kept if segment.kept_until > self.clock() else self.cached

    def _end_keeping(self) -> None:
        """Make pages that were kept for long enough the first to go, with those cached after them."""
        over = self.kept.pop_over(self.clock())
        for segment in over:
            segment.kept_until = segment.kept_priority = 0.0
            self.cached.put(segment)
        expired = frozenset(over)
        first = [segment for segment in self.cached.segments if _is_below(segment, expired)] if over else []
        for segment in reversed(first):
            self.cached.segments.move_to_end(segment, last=False)

    def strip(self, segment: Segment) -> list[int]:
        """Detaches and returns all pages of a tail that no live context holds. At most one image still needs their
        content."""
        self.unlist(segment)
        pages = [self._part(record, others=1) for record in segment.pages]
        if pages:
            segment.pages = []
            _detach(segment, b"")
        return pages

    def _reclaim(self, eviction: Eviction) -> int:
        lru = next(lru for lru in (self.cached, self.kept, self.snapshot_only) if lru.segments)
        segment = lru.first()
        record = segment.pages.pop()
        lru.pages -= 1
        if not segment.pages:
            del lru.segments[segment]
            _detach(segment, record.key)
        if record.key:
            self.evictions.add(record.key, eviction)
        return self._part(record, others=0)

    def _part(self, record: PageRecord, others: int) -> int:
        """Separates a record from its page, and reports content as lost if more than `others` images need it."""
        page = resident_page(record)
        if self.notes_evicted and record.stored_for is not None and record.key:
            kept = record.checkpoint
            self._evicted.append(Evicted(page, record, None if kept is None else kept.state))
        record.page = None
        if not record.wanted:
            self.kept_states.detach(record)
        if record.wanted > others and record.spill is None:
            self.lost.append(PageContent(page, record.rows, record))
        return page


class Withheld:
    """Takes free and cached pages out of a pool, and puts them back.

    As with any reclaimed page, a suspended context loses the content of a cached page taken here (K8).
    """

    def __init__(self, pool: PagePool) -> None:
        self._pool = pool

    @property
    def count(self) -> int:
        """Pages that are withheld."""
        return len(self._pool.withheld)

    def withhold(self, pages: int) -> list[int]:
        """Withholds `pages` more pages, or as many as are available. Returns them."""
        if not pages:
            return []
        taken = self._pool.allocate(min(pages, self._pool.available()), owner=SYSTEM)
        self._pool.withheld += taken
        return taken

    def give_back(self, pages: int) -> None:
        """Puts back `pages` of them."""
        kept = max(0, self.count - pages)
        back, self._pool.withheld = self._pool.withheld[kept:], self._pool.withheld[:kept]
        self._pool.free(back)

    def empty_cache(self) -> list[int]:
        """Reclaims all cached pages. Returns all free pages."""
        self._pool.free(self._pool.reclaim_cached())
        return list(self._pool.free_ids)


def _is_below(segment: Segment | None, others: frozenset[Segment]) -> bool:
    while segment is not None and segment not in others:
        segment = segment.parent
    return segment is not None


def never_fits(pages: int, capacity: int, state_pages: int = 0) -> OutOfPagesError:
    """The error for a request that can never be met; `state_pages` of it are for what recurrent layers remember."""
    state = f", {state_pages} of them for the state of its recurrent layers" if state_pages else ""
    return OutOfPagesError(
        f"{pages} pages can never fit{state}: the pool has {capacity}",
        hint="shorten the context, or start the engine with more pages",
        needed=pages,
        capacity=capacity,
    )


def _detach(segment: Segment, first_key: bytes) -> None:
    """Removes an empty leaf. Its parent takes over the snapshots that ended there."""
    parent = segment.parent
    if parent is None:
        raise IntegrityError("the root of the trie was reclaimed")
    if segment.listed:
        del parent.children[first_key]
    if segment.snapshots:
        parent.snapshots += segment.snapshots - 1
