"""The prefix trie: which full pages are in the pool, after which prefix, and who holds them.

It contains only pages that are in the pool. An `Image` keeps whatever else an off-pool context or a snapshot needs.
"""

from typing import NamedTuple

from pie_mlx.engine.kv.pages.pool import PagePool
from pie_mlx.engine.kv.pages.record import NO_PAGE, PageRecord, Segment, resident_page


class Place(NamedTuple):
    """A point in the trie: after the first `pages` pages of `segment`."""

    segment: Segment
    pages: int


class PrefixTrie:
    """Full pages by prefix. A holder stands at the end of a segment and holds every page up to the root."""

    def __init__(self, pool: PagePool) -> None:
        self.pool = pool
        self.root = Segment(None, [])

    # Looking up.

    def find(self, place: Place, key: bytes, packed: bytes) -> Place | None:
        """The place after the page with this key and these tokens that follows `place`. None if there is none."""
        segment, at = place
        if at == len(segment.pages):
            child = segment.children.get(key)
            if child is None:
                return None
            segment, at = child, 0
        record = segment.pages[at]
        return Place(segment, at + 1) if record.key == key and record.packed == packed else None

    def match(self, chain: list[PageRecord]) -> tuple[Place, int]:
        """The deepest place that `chain` reaches from the root, and how many of its pages that covers."""
        place, depth = Place(self.root, 0), 0
        while depth < len(chain):
            child = place.segment.children.get(chain[depth].key)
            matched = 0 if child is None else _common_pages(child.pages, chain, depth)
            if child is None or matched == 0:
                break
            place, depth = Place(child, matched), depth + matched
            if matched < len(child.pages):
                break
        return place, depth

    # Holding.

    def hold(self, place: Place) -> Segment:
        """A live context now stands at `place`; returns the segment that ends there."""
        end = self._end_at(place)
        segment = end
        while segment.parent is not None:
            segment.contexts += 1
            if segment.contexts > 1:
                break
            self.pool.list_reclaimable(segment)
            segment = segment.parent
        return end

    def drop(self, segment: Segment) -> None:
        """A live context no longer stands at the end of `segment`."""
        while segment.parent is not None:
            segment.contexts -= 1
            if segment.contexts:
                break
            self.pool.list_reclaimable(segment)
            segment = segment.parent

    def hold_for_snapshot(self, place: Place) -> Segment:
        """A snapshot now stands at `place`; returns the segment that ends there."""
        end = self._end_at(place)
        segment = end
        while segment.parent is not None:
            segment.snapshots += 1
            if segment.snapshots > 1:
                break
            segment = segment.parent
        self._refresh(end)
        return end

    def drop_for_snapshot(self, segment: Segment) -> None:
        """A snapshot no longer stands at the end of `segment`, or of what remains of it."""
        segment = standing(segment)
        while segment.parent is not None:
            segment.snapshots -= 1
            if segment.snapshots:
                break
            self.pool.list_reclaimable(segment)
            segment = segment.parent

    # Keeping what no context holds.

    def keep(self, leaf: Segment, until: float, priority: float) -> int:
        """Keeps all pages up to the end of `leaf`, where a live context stands, until then, longer than of a lower
        priority; their number."""
        parts = path(leaf)
        for segment in parts:
            segment.kept_until = max(segment.kept_until, until)
            segment.kept_priority = max(segment.kept_priority, priority)
        return sum(len(segment.pages) for segment in parts)

    def demote(self, leaf: Segment) -> None:
        """Makes the pages up to the end of `leaf` the first to be reclaimed, as far as nothing else needs them."""
        alone: list[Segment] = []
        while leaf.parent is not None and leaf in self.pool.cached.segments and len(leaf.children) == len(alone[-1:]):
            alone.append(leaf)
            leaf = leaf.parent
        for segment in reversed(alone):  # parents first, so that in the end children come before them
            self.pool.cached.segments.move_to_end(segment, last=False)

    # Growing.

    def extend(self, leaf: Segment, record: PageRecord) -> Segment:
        """Adds a page after `leaf`, where a live context stands. Returns the segment where it stands then."""
        record.made_seconds = self.pool.clock()
        alone = leaf.contexts == 1 and not leaf.snapshots and not leaf.children and not leaf.kept_until
        if alone and leaf.parent is not None:
            leaf.pages.append(record)
            return leaf
        child = Segment(leaf, [record], listed=record.key not in leaf.children)
        if child.listed:
            leaf.children[record.key] = child
        return self.move(leaf, Place(child, 1))

    def move(self, leaf: Segment, place: Place) -> Segment:
        """Moves a live context from the end of `leaf` to `place`."""
        end = self.hold(place)
        self.drop(leaf)
        return end

    def hang(self, leaf: Segment, pages: list[PageRecord]) -> Segment:
        """Adds pages below `leaf` that no lookup finds: a tail of something off-pool. They are reclaimable at once."""
        segment = Segment(leaf, pages, listed=False)
        self.pool.list_reclaimable(segment)
        return segment

    def _end_at(self, place: Place) -> Segment:
        """The segment that ends at `place`; cuts one in two if needed. The caller must hold it at once."""
        segment, at = place
        if at == len(segment.pages):
            return segment
        if at == 0 and segment.parent is not None:
            return segment.parent
        return self._cut(segment, at)

    def _cut(self, lower: Segment, at: int) -> Segment:
        upper = Segment(lower.parent, lower.pages[:at], listed=lower.listed)
        upper.kept_until, upper.kept_priority = lower.kept_until, lower.kept_priority
        upper.used_seconds = lower.used_seconds
        upper.contexts, upper.snapshots = min(lower.contexts, 1), min(lower.snapshots, 1)
        lru = self.pool.lru_of(lower)
        if lru is not None:
            lru.pages -= at
        if lower.listed and lower.parent is not None:
            lower.parent.children[upper.pages[0].key] = upper
        lower.pages, lower.parent, lower.listed = lower.pages[at:], upper, True
        upper.children[lower.pages[0].key] = lower
        return upper

    def _refresh(self, segment: Segment) -> None:
        """Lists a whole path as most recently used, children first: a parent must never come before its child."""
        while segment.parent is not None and not segment.contexts:
            self.pool.list_reclaimable(segment)
            segment = segment.parent


def standing(segment: Segment) -> Segment:
    """What remains of `segment`: itself, or the nearest ancestor that was not reclaimed."""
    while not segment.pages and segment.parent is not None:
        segment = segment.parent
    return segment


def path(segment: Segment) -> list[Segment]:
    """The segments below the root, down to `segment`."""
    segments: list[Segment] = []
    while segment.parent is not None:
        segments.append(segment)
        segment = segment.parent
    segments.reverse()
    return segments


def place_at(segment: Segment, pages_before_end: int) -> Place:
    """The place `pages_before_end` pages above the end of `segment`."""
    at = len(segment.pages) - pages_before_end
    while at < 0 and segment.parent is not None:
        segment = segment.parent
        at += len(segment.pages)
    return Place(segment, at)


def chain_of(segment: Segment) -> list[PageRecord]:
    """All pages from the root to the end of `segment`."""
    return [record for part in path(segment) for record in part.pages]


def last_key(segment: Segment) -> bytes:
    """The key that the next page after `segment` is chained to."""
    return segment.pages[-1].key if segment.pages else NO_PAGE


def page_at(place: Place) -> int:
    """The physical page that ends at `place`."""
    return resident_page(place.segment.pages[place.pages - 1])


def _common_pages(pages: list[PageRecord], chain: list[PageRecord], start: int) -> int:
    if pages == chain[start : start + len(pages)]:
        return len(pages)
    common = 0
    for ours, theirs in zip(pages, chain[start:], strict=False):
        if ours.key != theirs.key or ours.packed != theirs.packed:
            break
        common += 1
    return common
