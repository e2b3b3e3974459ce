"""The pool of page ids: which are free, which can be reclaimed, and in which order."""

from collections import OrderedDict, deque

from pie_mlx.engine.kv.pages.integrity_error import IntegrityError
from pie_mlx.engine.kv.pages.segment import PageRecord, Segment, resident_page
from pie_mlx.engine.kv.pages.values import PageContent
from pie_mlx.errors import OutOfPagesError


class Shelf:
    """Segments no live context holds, least recently used first.

    A segment is put behind its children, because it is released after them; so the front one is always a leaf.
    """

    __slots__ = ("pages", "segments")

    def __init__(self) -> None:
        self.segments: OrderedDict[Segment, None] = OrderedDict()
        self.pages = 0

    def put(self, segment: Segment) -> None:
        self.segments[segment] = None
        self.pages += len(segment.pages)

    def remove(self, segment: Segment) -> None:
        del self.segments[segment]
        self.pages -= len(segment.pages)


class PagePool:
    """Page ids 0 .. capacity - 1, each free, reclaimable (cached or held by snapshots only), in use or withheld.

    A free page may be promised to a context: its next request gets that page, unless somebody needed it before. Pages
    that one context gets are neighbours where possible: attention reads those where they lie. `displaced` are contexts
    to which a promise was broken.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.free = dict.fromkeys(range(capacity - 1, -1, -1))
        self.promised: dict[int, int] = {}
        self.displaced: set[int] = set()
        self.withheld: list[int] = []
        self.cached = Shelf()
        self.snapshot_only = Shelf()
        self.lost: deque[PageContent] = deque(maxlen=capacity)

    def available(self) -> int:
        """Pages that can be had without suspending any context (K8): free, cached, held by snapshots only."""
        return len(self.free) + len(self.promised) + self.cached.pages + self.snapshot_only.pages

    @property
    def free_pages(self) -> int:
        """Pages nobody holds or wants, promised ones included."""
        return len(self.free) + len(self.promised)

    def promise(self, context: int, behind: int | None = None) -> int | None:
        """The free page that the next `take` of `context` will begin with; None when no page is free."""
        if context not in self.promised and self.free:
            self.promised[context] = self._pop(behind)
        return self.promised.get(context)

    def break_promise(self, context: int) -> None:
        """Frees the page promised to `context`, which is `displaced` then; fine when there is none."""
        self.displaced.add(context)
        if context in self.promised:
            self.free[self.promised.pop(context)] = None

    def take_displaced(self) -> set[int]:
        """Contexts that were suspended since the last call, or lost what was promised them: somebody else may have
        written where `WorkingPages.table_for` said that their next token will be, also if it is theirs again."""
        displaced, self.displaced = self.displaced, set()
        return displaced

    def take(self, pages: int, context: int | None = None, behind: int | None = None) -> list[int]:
        """`pages` page ids: promised to `context`, free, promised to others, cached, then snapshot-only.

        Free ones are neighbours `behind` a page and of each other where possible. `OutOfPagesError` changes nothing.
        """
        self.require(pages)
        promised = None if context is None or not pages else self.promised.pop(context, None)
        taken = [] if promised is None else [promised]
        while self.promised and len(self.free) < pages - len(taken):
            self.break_promise(next(iter(self.promised)))
        for _ in range(min(pages - len(taken), len(self.free))):
            taken.append(self._pop(taken[-1] if taken else behind))
        taken.extend(sorted(self._reclaim() for _ in range(pages - len(taken))))
        return taken

    def take_lost(self) -> tuple[PageContent, ...]:
        """Content reclaimed since the last call that an off-pool context or a snapshot wants and that is not spilled.

        It is still in its page until the next pass, copy or read writes there: spill it now or it will be replayed.
        """
        lost = tuple(self.lost)
        self.lost.clear()
        return lost

    def take_cached(self) -> list[int]:
        """All cached pages, whose content is forgotten."""
        return [self._reclaim() for _ in range(self.cached.pages)]

    def _pop(self, behind: int | None) -> int:
        """A free page: the one `behind` a page if that is free, or the last that was freed."""
        if behind is not None and behind + 1 in self.free:
            del self.free[behind + 1]
            return behind + 1
        return self.free.popitem()[0]

    def require(self, pages: int) -> None:
        """`OutOfPagesError` unless `pages` pages are available."""
        if pages > self.capacity:
            raise never_fits(pages, self.capacity)
        if pages > self.available():
            raise OutOfPagesError(
                f"{pages} pages are not available now: {self.available()} of {self.capacity} are",
                hint="wait until other contexts release pages",
                needed=pages,
                capacity=self.capacity,
            )

    def give(self, pages: list[int]) -> None:
        """Makes `pages` free."""
        self.free.update(dict.fromkeys(reversed(pages)))

    def file(self, segment: Segment) -> None:
        """Puts `segment` where its holders say it belongs, as the most recently used."""
        self.unfile(segment)
        if segment.contexts == 0 and segment.pages:
            shelf = self.snapshot_only if segment.snapshots else self.cached
            shelf.put(segment)

    def unfile(self, segment: Segment) -> None:
        """Takes `segment` off its shelf; fine when it is on none."""
        shelf = self.shelf_of(segment)
        if shelf is not None:
            shelf.remove(segment)

    def shelf_of(self, segment: Segment) -> Shelf | None:
        """The shelf that holds `segment`, None when a live context holds it."""
        for shelf in (self.cached, self.snapshot_only):
            if segment in shelf.segments:
                return shelf
        return None

    def strip(self, segment: Segment) -> list[int]:
        """Takes all pages of a tail that no live context holds, for one who wanted their content or for nobody."""
        self.unfile(segment)
        pages = [self._part(record, others=1) for record in segment.pages]
        if pages:
            segment.pages = []
            _detach(segment, b"")
        return pages

    def _reclaim(self) -> int:
        shelf = self.cached if self.cached.segments else self.snapshot_only
        segment = next(iter(shelf.segments))
        record = segment.pages.pop()
        shelf.pages -= 1
        if not segment.pages:
            del shelf.segments[segment]
            _detach(segment, record.key)
        return self._part(record, others=0)

    def _part(self, record: PageRecord, others: int) -> int:
        """Separates a record from its page; tells when more than `others` holders lose the only copy."""
        page = resident_page(record)
        record.page = None
        if record.wanted > others and record.spill is None:
            self.lost.append(PageContent(page, record.rows, record))
        return page


def never_fits(pages: int, capacity: int) -> OutOfPagesError:
    """The error of a request that no waiting can satisfy."""
    return OutOfPagesError(
        f"{pages} pages can never fit: the pool has {capacity}",
        hint="shorten the context, or start the engine with more pages",
        needed=pages,
        capacity=capacity,
    )


def _detach(segment: Segment, first_key: bytes) -> None:
    """Removes an empty leaf from its parent, which takes over the snapshots that ended there."""
    parent = segment.parent
    if parent is None:
        raise IntegrityError("the root of the trie was reclaimed")
    if segment.listed:
        del parent.children[first_key]
    if segment.snapshots:
        parent.snapshots += segment.snapshots - 1
