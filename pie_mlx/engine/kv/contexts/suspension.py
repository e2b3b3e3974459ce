"""Suspends and restores contexts, and lists the copies that forks and snapshots need."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pie_mlx.engine.kv.contexts.context import NO_POSITION, Context, ContextTable
from pie_mlx.engine.kv.contexts.fills import fills_of
from pie_mlx.engine.kv.contexts.states import deepest, image_states, tokens_of
from pie_mlx.engine.kv.contexts.working import WorkingPages, pages_for
from pie_mlx.engine.kv.pages.image import Image, ImageKeeper, Tail, cut_tail
from pie_mlx.engine.kv.pages.record import IntegrityError, Owner, PageRecord, Segment, resident_page
from pie_mlx.engine.kv.pages.trie import Place, PrefixTrie, chain_of, path
from pie_mlx.engine.kv.pages.values import PageContent, PageCopy, PageRead, Restore, SpillKey, SuspensionResult


class Suspender:
    """Does the accounting when contexts leave the pool and return."""

    def __init__(
        self,
        contexts: ContextTable,
        trie: PrefixTrie,
        images: ImageKeeper,
        working: WorkingPages,
        page_size: int,
        *,
        recurrent: bool = False,
    ) -> None:
        self._recurrent = recurrent
        self._contexts = contexts
        self._trie = trie
        self._pool = trie.pool
        self._images = images
        self._working = working
        self._page_size = page_size

    # Leaving.

    def suspend(self, number: int, reached: int = 0) -> SuspensionResult:
        """Frees all pages (R1). Does nothing if the context is off-pool; drops a restore that is not finished, of which
        full pages within the first `reached` tokens stay in the cache."""
        context = self._contexts[number]
        self._pool.break_promise(number)
        if not context.resident:
            return SuspensionResult(0, ())
        before = self._pool.available()
        if context.image is not None:
            self._working.adopt(context, context.image.records[context.committed : reached // self._page_size])
            self._leave(context, kept=0)
            return SuspensionResult(self._pool.available() - before, ())
        image = self._image_of(context)
        self._images.retain(image)
        self._pool.kept_states.cut(context.states, -1)
        leaf = context.leaf
        context.image = image
        self._leave(context, kept=len(image.tail.records))
        return SuspensionResult(self._pool.available() - before, tuple(_reclaimable(leaf, image)))

    def keep_state(self, number: int, state: Any, tokens: int, size_bytes: int) -> None:
        """Keeps the state that a dropped restore of an off-pool context came to, after its first `tokens` tokens."""
        context = self._contexts[number]
        image = context.image
        before = None if image is None else deepest(image_states(image), tokens)
        saves = tokens - (0 if before is None else before.tokens)
        kept = self._pool.kept_states.keep(state, tokens, size_bytes, saves) if saves else None
        if image is not None and kept is not None:
            context.image = replace(image, states=(*image.states, kept))
            self._images.retain(context.image)
            self._images.release(image)

    def release(self, context: Context) -> None:
        """Frees pages and image of a context that ends."""
        self._pool.break_promise(context.number)
        if context.resident:
            self._leave(context, kept=0)
        self._pool.kept_states.cut(context.states, -1)
        if context.image is not None:
            self._images.release(context.image)

    def fork(self, source: Context, child: Context) -> tuple[PageCopy, ...]:
        """Makes `child` a fork of `source` (P13, P14)."""
        if source.image is not None:
            child.image = at_rest(source.image, self._page_size)
            self._images.retain(child.image)
            return ()
        size, tokens = self._page_size, len(source.working)
        fresh = self._pool.allocate(pages_for(tokens, size), owner=source.owner)
        child.owner = source.owner
        child.leaf = self._trie.hold(Place(source.leaf, len(source.leaf.pages)))
        child.committed = source.committed
        child.block_table = [*source.block_table[: source.committed], *fresh]
        child.working = source.working.copy()
        child.highest_position = source.highest_position
        child.inherited_tokens = tokens
        child.states = [kept for kept in source.states if kept.state is not None]
        for kept in child.states:
            self._pool.kept_states.retain(kept)
        return copies_of(source.block_table[source.committed :], fresh, tokens, size)

    def _image_of(self, context: Context) -> Image:
        """The image of a resident context, whose tail still lies in its working pages."""
        pages = context.block_table[context.committed :]
        records = cut_tail(context.working, pages, self._page_size)
        tail = Tail(context.working, records)
        if records:
            tail.segment = self._trie.hang(context.leaf, records.copy())
        return Image(
            chain_of(context.leaf),
            tail,
            context.highest_position,
            context.inherited_tokens,
            len(pages),
            len(context.state_pages),
            tuple(context.last_states()),
        )

    def _leave(self, context: Context, kept: int) -> None:
        """Frees all pages except the first `kept` working ones, which the tail took over."""
        self._pool.free([*context.block_table[context.committed + kept :], *context.state_pages])
        context.state_pages = []
        self._trie.drop(context.leaf)
        context.leaf, context.committed, context.restoring = self._trie.root, 0, False
        context.block_table, context.working = [], []
        context.highest_position, context.inherited_tokens = NO_POSITION, 0

    # Coming back.

    def restore_need(self, number: int) -> int:
        """Pages that a restore needs: the working ones, those of its state, and committed ones that no resident context
        holds (M6)."""
        context = self._contexts[number]
        image = context.image
        if image is None or context.restoring:
            return 0
        place, depth = self._trie.match(image.records)
        return image.working_pages + image.state_pages + len(image.records) - _live_pages(place, depth)

    def restore(self, number: int) -> Restore:
        """Allocates the pages that an off-pool context needs, and lists what fills them (R4). Raises OutOfPagesError.

        The caller does the copies, reads and fills, then calls `finish_restore`. Until then only `block_table`,
        `suspend`, `release`, `fork`, `save` and the figures are allowed.
        """
        context = self._contexts[number]
        image = context.image
        if image is None or context.restoring:
            raise IntegrityError(f"context {number} is not off-pool")
        self._pool.require(self.restore_need(number))
        place, depth = self._trie.match(image.records)
        context.leaf = self._trie.hold(place)
        context.block_table = [resident_page(record) for record in chain_of(context.leaf)]
        context.committed, context.restoring = depth, True
        context.state_pages = self._pool.allocate(image.state_pages, owner=context.owner)
        missing = len(image.records) - depth
        fresh, moved = self._take_pages(image.tail, missing, image.working_pages, context.owner)
        context.block_table += [*fresh[:missing], *moved, *fresh[missing:]]
        absent = [*image.records[depth:], *image.tail.records]
        targets = context.block_table[depth : depth + len(absent)]
        already_there = range(missing, missing + len(moved))
        pieces = [
            _Piece((depth + index) * self._page_size, record, target)
            for index, (record, target) in enumerate(zip(absent, targets, strict=True))
            if index not in already_there
        ]
        work = _work(depth, pieces)
        return self._from_a_state(image, work) if self._recurrent else work

    def finish_restore(self, number: int) -> None:
        """Ends a restore: equal pages are shared, and the context is usable again."""
        context = self._contexts[number]
        image = context.image
        if image is None or not context.restoring:
            raise IntegrityError(f"context {number} is not being restored")
        self._working.adopt(context, image.records[context.committed :])
        context.working = image.tail.tokens.copy()
        context.highest_position, context.inherited_tokens = image.highest_position, image.inherited_tokens
        context.image, context.restoring = None, False
        context.states = sorted((kept for kept in image.states if kept.state is not None), key=tokens_of)
        for kept in context.states:
            self._pool.kept_states.retain(kept)
        self._images.release(image)

    def restore_without_work(self, context: Context) -> tuple[PageCopy, ...]:
        """Restores an off-pool context if copies alone suffice. Otherwise leaves it off-pool."""
        image = context.image
        if image is None or not self._is_whole(image) or self.restore_need(context.number) > self._pool.available():
            return ()
        copies = self.restore(context.number).copies  # of its state, a pass takes care
        self.finish_restore(context.number)
        return copies

    def forget_spills(self, number: int, keys: Collection[SpillKey]) -> None:
        """The spilled pages under `keys` cannot be read: the next `restore` of the context replays them.

        `pop_released` never returns these keys.
        """
        image = self._contexts[number].image
        for record in () if image is None else image.all_records():
            if record.spill in keys:
                record.spill = None

    def _from_a_state(self, image: Image, work: Restore) -> Restore:
        """`work` with fills that go on from the last state before what is lost."""
        size, end = self._page_size, len(image.records) * self._page_size + len(image.tail.tokens)
        spans = ((fill.start, fill.start + len(fill.tokens)) for fill in work.fills)
        lost = frozenset(page for start, stop in spans for page in range(start // size, pages_for(stop, size)))
        known = deepest(image_states(image), min(lost) * size if lost else end)
        first = 0 if known is None else known.tokens
        starts = enumerate(image.all_records())
        pieces = ((index * size, record.tokens) for index, record in starts if (index + 1) * size > first)
        fills = fills_of((max(start, first), tokens[max(0, first - start) :]) for start, tokens in pieces)
        return replace(work, fills=tuple(fills), state=known, written=lost)

    def _is_whole(self, image: Image) -> bool:
        tail, (_, depth) = image.tail, self._trie.match(image.records)
        in_pool = len(tail.segment.pages) if tail.segment else 0
        return depth == len(image.records) and in_pool == len(tail.records)

    def _take_pages(self, tail: Tail, missing: int, working: int, owner: Owner) -> tuple[list[int], list[int]]:
        """Fresh pages, and the tail's own pages where they can be moved instead of copied.

        A tail that other images also need is copied. If only its own pages are left, they are moved, and the other
        images replay the tail later.
        """
        segment = tail.segment
        if segment is None or not segment.pages:
            return self._pool.allocate(missing + working, owner=owner), []
        if tail.images > 1:
            fresh = self._take_beside(segment, missing + working, owner)
            if fresh is not None:
                return fresh, []
        moved = self._pool.strip(segment)
        return self._pool.allocate(missing + working - len(moved), owner=owner), moved

    def _take_beside(self, segment: Segment, pages: int, owner: Owner) -> list[int] | None:
        """Fresh pages that belong neither to `segment` nor to its ancestors. None if there are too few."""
        self._trie.hold(Place(segment, len(segment.pages)))
        fresh = self._pool.allocate(pages, owner=owner) if pages <= self._pool.available() else None
        self._trie.drop(segment)
        return fresh


class _Piece(NamedTuple):
    """A page to fill: its first slot in the context, its content, and the target page."""

    start: int
    record: PageRecord
    target: int


def at_rest(image: Image, page_size: int) -> Image:
    """The image for another context: without empty reservations, and with all tokens inherited."""
    tokens = len(image.tail.tokens)
    return replace(image, inherited_tokens=tokens, working_pages=pages_for(tokens, page_size), state_pages=0)


def copies_of(sources: Sequence[int], targets: Sequence[int], tokens: int, page_size: int) -> tuple[PageCopy, ...]:
    """Copies of the pages that hold the first `tokens` working tokens."""
    rows = (min(page_size, tokens - start) for start in range(0, tokens, page_size))
    return tuple(map(PageCopy, sources, targets, rows))


def _work(attached: int, pieces: list[_Piece]) -> Restore:
    """How each piece is filled: by a copy within the pool, else from its spilled page, else by a replay."""
    copies: list[PageCopy] = []
    reads: list[PageRead] = []
    lost: list[_Piece] = []
    for piece in pieces:
        record, rows = piece.record, piece.record.rows
        if record.page is not None:
            copies.append(PageCopy(record.page, piece.target, rows))
        elif record.spill is not None:
            reads.append(PageRead(record.spill, piece.target, rows))
        else:
            lost.append(piece)
    fills = fills_of((piece.start, piece.record.tokens) for piece in lost)
    return Restore(attached, tuple(copies), tuple(reads), tuple(fills))


def _reclaimable(leaf: Segment, image: Image) -> list[PageContent]:
    """Content of an image that neither a live context keeps in the pool nor the spill file has."""
    alone = [record for part in path(leaf) if not part.contexts for record in part.pages]
    return [
        PageContent(resident_page(record), record.rows, record)
        for record in (*alone, *image.tail.records)
        if record.spill is None
    ]


def _live_pages(place: Place, depth: int) -> int:
    """How many of the `depth` pages before `place` resident contexts hold."""
    segment, at = place
    while segment.parent is not None and not segment.contexts:
        depth -= at
        segment = segment.parent
        at = len(segment.pages)
    return depth
