"""Checks the page store: every page has one owner, every count matches what it counts."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from pie_mlx.engine.kv.contexts.context import Context, ContextTable
from pie_mlx.engine.kv.pages.image import Image, Tail
from pie_mlx.engine.kv.pages.pool import PagePool
from pie_mlx.engine.kv.pages.record import NO_PAGE, IntegrityError, PageHasher, PageRecord, Segment, resident_page
from pie_mlx.engine.kv.pages.trie import PrefixTrie, chain_of, path, standing
from pie_mlx.engine.kv.snapshots import Snapshot


@dataclass(frozen=True, slots=True)
class Books:
    """The complete state of the page store."""

    trie: PrefixTrie
    hasher: PageHasher
    page_size: int
    contexts: ContextTable
    snapshots: list[Snapshot]

    @property
    def pool(self) -> PagePool:
        return self.trie.pool

    def residents(self) -> list[Context]:
        return [context for context in self.contexts if context.resident]

    def images(self) -> list[Image]:
        kept = [snapshot.image for snapshot in self.snapshots]
        return kept + [context.image for context in self.contexts if context.image is not None]

    def segments(self) -> list[Segment]:
        """Every segment with pages, reclaimable or held by a resident context."""
        held = [segment for context in self.residents() for segment in path(context.leaf)]
        pool = self.pool
        return list(dict.fromkeys([*held, *pool.cached.segments, *pool.kept.segments, *pool.snapshot_only.segments]))


def check_integrity(books: Books) -> None:
    """Raises IntegrityError that names the first contradiction."""
    segments = books.segments()
    _check_pages(books, segments)
    _check_holds(books, segments)
    _check_lru_lists(books.pool)
    for segment in segments:
        _check_segment(books, segment)
    for context in books.contexts:
        _check_context(books, context)
    _check_images(books)
    _check_states(books)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise IntegrityError(what)


def _check_pages(books: Books, segments: Iterable[Segment]) -> None:
    owners = Counter(books.pool.free_ids.keys())
    owners.update(books.pool.promised.values())
    owners.update(books.pool.withheld)
    owners.update(resident_page(record) for segment in segments for record in segment.pages)
    owners.update(page for context in books.residents() for page in context.block_table[context.committed :])
    owners.update(page for context in books.contexts for page in context.state_pages)
    _require(set(owners) == set(range(books.pool.capacity)), "a page was lost, or does not exist")
    _require(max(owners.values()) == 1, f"a page has two owners: {owners.most_common(3)}")


def _check_holds(books: Books, segments: list[Segment]) -> None:
    contexts = Counter(context.leaf for context in books.residents())
    snapshots = Counter(standing(snapshot.held) for snapshot in books.snapshots)
    for segment in segments:
        parent = segment.parent
        if parent is not None:
            contexts[parent] += segment.contexts > 0
            snapshots[parent] += segment.snapshots > 0
    for segment in segments:
        _require(segment.contexts == contexts[segment], "a segment's count of contexts is wrong")
        _require(segment.snapshots == snapshots[segment], "a segment's count of snapshots is wrong")


def _check_lru_lists(pool: PagePool) -> None:
    for lru, of_snapshots in ((pool.cached, False), (pool.kept, False), (pool.snapshot_only, True)):
        _require(lru.pages == sum(len(segment.pages) for segment in lru.segments), "an LRU list is miscounted")
        seen: set[Segment] = set()
        for segment in lru.segments:
            rightly = not segment.contexts and bool(segment.snapshots) == of_snapshots
            _require(rightly, "a segment is in the wrong LRU list")
            _require(segment.parent not in seen, "a parent would be reclaimed before its child")
            seen.add(segment)

    outlived = any(segment.parent in pool.cached.segments for segment in pool.kept.segments)
    _require(not outlived, "a parent would be reclaimed before its kept child")


def _check_segment(books: Books, segment: Segment) -> None:
    parent = segment.parent
    _require(bool(segment.pages) and parent is not None, "an empty segment is linked")
    if parent is None:
        return
    _require(bool(parent.pages) or parent.parent is None, "a page outlived its parent")
    _require(segment.contexts == 0 or books.pool.lru_of(segment) is None, "a held segment can be reclaimed")
    _require(segment.contexts > 0 or books.pool.lru_of(segment) is not None, "unheld pages are in no LRU list")
    _require(segment.unseen == -1, "a pass over the holders did not end")
    first = segment.pages[0].key
    _require(not segment.listed or parent.children.get(first) is segment, "a segment is not below its parent")
    _require(all(child.parent is segment and child.pages for child in segment.children.values()), "a dead child")


def _check_context(books: Books, context: Context) -> None:
    if not context.resident:
        holds_nothing = not context.block_table and not context.working and context.leaf is books.trie.root
        holds_nothing = holds_nothing and not context.states and not context.state_pages
        _require(holds_nothing and context.image is not None, "an off-pool context holds pages")
        return
    chain = chain_of(context.leaf)
    pages = [record.page for record in chain]
    _require(pages == context.block_table[: context.committed], "a block table does not follow the trie")
    _require(len(context.working) <= context.working_pages * books.page_size, "tokens without a page")
    _require(0 <= context.inherited_tokens <= len(context.working), "more inherited tokens than tokens")
    highest = max((token.position for record in chain for token in record.tokens), default=-1)
    _require(context.restoring or highest == context.highest_position, "the highest position is wrong")
    _check_keys(books, chain)


def _check_keys(books: Books, chain: list[PageRecord]) -> None:
    key = NO_PAGE
    for record in chain:
        _require(record.rows == len(record.tokens) == books.page_size, "a committed page is not full")
        key = books.hasher.key(key, record.tokens)
        _require(record.key == key, "a page's key is not that of its content")


def _check_images(books: Books) -> None:
    images = books.images()
    wanted = Counter(record for image in images for record in image.all_records())
    for record, count in wanted.items():
        _require(record.wanted == count, "a record is wanted by another number of images")
    in_pool = {record for segment in books.segments() for record in segment.pages}
    for record in in_pool:
        _require(record.wanted == wanted[record], "a page in the pool has an unknown image as a holder")
        _require(record.wanted > 0 or record.spill is None, "a spilled page that no image needs was kept")
    _require(all(record in in_pool for record in wanted if record.page is not None), "content in no page")
    tails = Counter(image.tail for image in images)
    for tail, count in tails.items():
        _check_tail(books, tail, count)
    for image in images:
        _check_keys(books, image.records)


def _check_states(books: Books) -> None:
    """Each kept state is where its tokens end, and has exactly the holders that are known; no page that is gone has
    one."""
    pages = {record for segment in books.segments() for record in segment.pages}
    pages.update(record for image in books.images() for record in image.all_records())
    holders = Counter(record.checkpoint for record in pages if record.checkpoint is not None)
    wanted = Counter(kept for image in books.images() for kept in image.states)
    for context in books.contexts:
        holders.update(context.states)
        if not context.resident:
            continue
        _check_places(chain_of(context.leaf), books.page_size)
        length = context.committed * books.page_size + len(context.working)
        places = [kept.tokens for kept in context.states]
        _require(places == sorted(places), "kept states are in disorder")
        _require(not places or places[-1] <= length, "a state of tokens is kept that the context has not")
    for image in books.images():
        _check_places(image.records, books.page_size)
        length = len(image.records) * books.page_size + len(image.tail.tokens)
        _require(all(kept.tokens <= length for kept in image.states), "an image keeps a state of tokens it has not")
    books.pool.kept_states.check(holders + wanted, wanted)


def _check_places(records: list[PageRecord], page_size: int) -> None:
    for depth, record in enumerate(records, 1):
        right = record.checkpoint is None or record.checkpoint.tokens == depth * page_size
        _require(right, "a page has the state of another place")


def _check_tail(books: Books, tail: Tail, images: int) -> None:
    _require(tail.images == images, "a tail is shared by another number of images")
    _require(tail.tokens == [token for record in tail.records for token in record.tokens], "a tail lost tokens")
    if tail.segment is not None:
        kept = tail.segment.pages
        _require(kept == tail.records[: len(kept)], "a tail's pages are not its own")
