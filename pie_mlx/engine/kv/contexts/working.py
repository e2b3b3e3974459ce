"""Working pages: reserve, fill, truncate, commit, and match cached prefixes."""

from collections.abc import Iterator, Sequence
from operator import itemgetter, ne
from typing import NamedTuple

from pie_mlx.engine.kv.contexts.context import Context, ContextTable
from pie_mlx.engine.kv.pages.pool import never_fits
from pie_mlx.engine.kv.pages.record import PageHasher, PageRecord, WorkingToken, are_plain, pack, resident_page
from pie_mlx.engine.kv.pages.trie import Place, PrefixTrie, last_key, page_at
from pie_mlx.engine.kv.pages.values import NOTHING_COMMITTED, CommitResult, Evicted, Rows
from pie_mlx.errors import InvalidArgumentError, KvCapacityError, PageBoundsError, PageCommitError

_POSITION = itemgetter(1)


class _Cached(NamedTuple):
    """Cached pages that continue a context: the place where they end, and their highest position."""

    place: Place
    records: list[PageRecord]
    highest_position: int


def pages_for(tokens: int, page_size: int) -> int:
    """Pages that hold `tokens` tokens."""
    return -(-tokens // page_size)


class WorkingPages:
    """Operations on the working pages of resident contexts."""

    def __init__(
        self, contexts: ContextTable, trie: PrefixTrie, hasher: PageHasher, page_size: int, state_pages: int = 0
    ) -> None:
        self._contexts = contexts
        self._trie = trie
        self._pool = trie.pool
        self._hasher = hasher
        self._page_size = page_size
        self._state_pages = state_pages

    def lacking(self, number: int, new_tokens: int) -> int:
        """Pages to reserve before `new_tokens` more tokens fit (P10). Works off-pool too."""
        counters = self._contexts[number].counters()
        return max(0, pages_for(counters.working_tokens + new_tokens, self._page_size) - counters.working)

    def require_capacity(self, number: int, pages: int) -> None:
        """Raises OutOfPagesError if the context plus `pages` can never fit the pool (P4). Works off-pool too."""
        _require_count("reserve", pages)
        needed, capacity = self._contexts[number].priced_pages + pages, self._pool.capacity
        if needed > capacity:
            raise never_fits(needed, capacity, self._state_pages)

    def reserve(self, number: int, pages: int) -> None:
        """Adds empty working pages (P4). Raises InvalidArgumentError, OutOfPagesError."""
        context = self._contexts.usable(number)
        self.require_capacity(number, pages)
        context.block_table.extend(self._pool.allocate(pages, number, context.last_page, owner=context.owner))

    def empty_pages(self, number: int) -> int:
        """Reserved working pages without tokens."""
        context = self._contexts.usable(number)
        return context.working_pages - pages_for(len(context.working), self._page_size)

    def release(self, number: int, pages: int) -> None:
        """Frees the last working pages with the tokens on them (P5). Raises InvalidArgumentError, PageBoundsError."""
        context = self._contexts.usable(number)
        _require_count("release", pages)
        self._require_pages("release", context, pages)
        remaining = len(context.block_table) - pages
        freed = context.block_table[remaining:]
        del context.block_table[remaining:]
        self._pool.free(freed)
        self._keep_tokens(context, context.working_pages * self._page_size)

    def truncate(self, number: int, tokens: int) -> None:
        """Forgets the last working tokens, keeps the pages (P6). Raises InvalidArgumentError, PageBoundsError."""
        context = self._contexts.usable(number)
        _require_count("truncate", tokens)
        if tokens > len(context.working):
            raise PageBoundsError(
                f"truncate {tokens} tokens: the context has {len(context.working)} working tokens",
                hint="committed pages cannot be truncated; fork before the point you want to return to",
            )
        self._keep_tokens(context, len(context.working) - tokens)

    def rows(self, number: int, count: int) -> Rows:
        """The slots of the next `count` tokens. Raises KvCapacityError."""
        context = self._contexts.usable(number)
        size, table = self._page_size, context.block_table
        start = context.committed * size + len(context.working)
        end = start + count
        if end > len(table) * size:
            raise KvCapacityError(
                f"{count} tokens do not fit: {len(table) * size - start} slots are reserved and empty",
                hint="reserve working pages first",
            )
        slots = [table[slot // size] * size + slot % size for slot in range(start, end)]
        return Rows(start, slots, table[: pages_for(end, size)])

    def table_for(self, number: int, length: int) -> Sequence[int] | None:
        """The block table of the context once it holds `length` tokens, at most one page more than now. That page is
        promised, and another context may still take it. None if no page is free or more than one is missing."""
        context = self._contexts.usable(number)
        pages, table = pages_for(length, self._page_size), context.block_table
        if pages <= len(table):
            return table[:pages]
        promised = self._pool.promise(number, context.last_page) if pages == len(table) + 1 else None
        return None if promised is None else [*table, promised]

    def append(self, number: int, tokens: Sequence[WorkingToken]) -> None:
        """Records that the next slots hold the KV of `tokens`. Raises KvCapacityError."""
        context = self._contexts.usable(number)
        room = context.working_pages * self._page_size - len(context.working)
        if len(tokens) > room:
            raise KvCapacityError(
                f"{len(tokens)} tokens do not fit: {room} slots are reserved and empty",
                hint="reserve working pages first",
            )
        context.working.extend(tokens)

    def commit(self, number: int, pages: int) -> CommitResult:
        """Commits leading working pages (P7). Raises InvalidArgumentError, PageBoundsError, PageCommitError."""
        context = self._contexts.usable(number)
        _require_count("commit", pages)
        self._require_pages("commit", context, pages)
        if pages * self._page_size > len(context.working):
            raise PageCommitError(
                f"commit {pages} pages: only {len(context.working) // self._page_size} working pages are full",
                hint="commit full pages only",
            )
        if self._increasing_pages(context, pages) < pages:
            raise PageCommitError(
                f"commit {pages} pages: a position is not above {context.highest_position}, the highest committed one",
                hint="positions must increase from one commit to the next",
            )
        return self._commit(context, pages)

    def commit_full(self, number: int) -> CommitResult:
        """Commits full working pages one by one, up to the first whose positions forbid it (P10): how a pass is divided
        makes no difference then. Never raises for positions."""
        context = self._contexts.usable(number)
        full = len(context.working) // self._page_size
        return (
            self._commit(context, self._increasing_pages(context, full, one_by_one=True)) if full else NOTHING_COMMITTED
        )

    def match_prefix(self, number: int, tokens: Sequence[WorkingToken], limit: int | None = None) -> int:
        """Attaches cached pages that hold the context's working tokens followed by `tokens` (K5-K7).

        Returns how many of `tokens` need no computation. `limit` is the smallest input index whose logits are needed
        (K6), or None.
        """
        context = self._contexts.usable(number)
        working = len(context.working)
        allowed = working + (len(tokens) if limit is None else min(limit, len(tokens)))
        cached = self._follow(context, tokens, allowed // self._page_size)
        count = len(cached.records)
        if not count:
            return 0
        held = min(count, pages_for(working, self._page_size))
        table, first = context.block_table, context.committed
        self._pool.free(table[first : first + held])
        table[first : first + held] = map(resident_page, cached.records)
        for record in cached.records:
            record.reused = True
        context.leaf = self._trie.move(context.leaf, cached.place)
        context.committed += count
        context.highest_position = cached.highest_position
        covered = count * self._page_size
        _drop_leading_tokens(context, covered)
        return max(0, covered - working)

    def cached_records(self, number: int, tokens: Sequence[WorkingToken], limit: int) -> list[PageRecord]:
        """The cached pages that `match_prefix` would attach for the first `limit` of `tokens`."""
        context = self._contexts.usable(number)
        allowed = len(context.working) + min(limit, len(tokens))
        return self._follow(context, tokens, allowed // self._page_size).records

    def following(self, number: int, tokens: Sequence[WorkingToken], limit: int) -> Iterator[PageRecord]:
        """The full pages that the first `limit` of `tokens` make after the committed ones, without content, as far as
        they may come from another engine."""
        context = self._contexts.usable(number)
        if not _outlives(context):
            return
        size, highest, key = self._page_size, context.highest_position, last_key(context.leaf)
        for first in range(0, (len(context.working) + limit) // size * size, size):
            page = page_tokens(context.working, tokens, first, size)
            positions = list(map(_POSITION, page))
            if not are_plain(page) or min(positions) <= highest:
                return
            key, highest = self._hasher.key(key, page), max(positions)
            yield PageRecord(key, pack(page), size, None, context.owner.user)

    def opening(
        self, number: int, tokens: Sequence[WorkingToken], pages: int, after: bytes | None
    ) -> Iterator[PageRecord]:
        """Pages, without content, that begin with what comes after the first `pages` of `following`, the last of them
        with the key `after`; those with more of `tokens` first. A context may have left one that is not full, but half
        of it."""
        context, size = self._contexts.usable(number), self._page_size
        page = page_tokens(context.working, tokens, pages * size, size)
        if not page or not _outlives(context) or not are_plain(page):
            return
        before = page_tokens(context.working, tokens, 0, pages * size)
        if min(map(_POSITION, page)) <= max([context.highest_position, *map(_POSITION, before)]):
            return
        parent, user = last_key(context.leaf) if after is None else after, context.owner.user
        if len(page) == size:
            yield PageRecord(self._hasher.key(parent, page), pack(page), size, None, user)
        for rows in range(min(len(page), size - 1), max(1, size // 2) - 1, -1):
            packed = pack(page[:rows])
            yield PageRecord(self._hasher.tail_key(parent, packed), packed, rows, None, user)

    def left(self, context: Context) -> Evicted | None:
        """The last page of a context that ends, if it may outlive the engine and is at least half full. Full ones are
        cached."""
        tokens, leaf, size = context.working, context.leaf, self._page_size
        if not max(1, size // 2) <= len(tokens) < size or not leaf.pages:
            return None
        if not _outlives(context) or not are_plain(tokens):
            return None
        packed, page = pack(tokens), context.block_table[context.committed]
        record = PageRecord(
            self._hasher.tail_key(last_key(leaf), packed), packed, len(tokens), page, context.owner.user
        )
        record.reused = leaf.pages[-1].reused
        return Evicted(page, record, None)

    def attach_read(self, number: int, records: list[PageRecord]) -> None:
        """Commits leading working pages, to which the content of `records` was read. They hold the working tokens."""
        context = self._contexts.usable(number)
        self.adopt(context, records)
        _drop_leading_tokens(context, len(records) * self._page_size)
        positions = [max(map(_POSITION, record.tokens)) for record in records]
        context.highest_position = max([context.highest_position, *positions])

    def tokens_to_fill(self, number: int, pages: int) -> int:
        """Tokens missing until `pages` pages after the committed ones are full. Negative if there are more."""
        return pages * self._page_size - len(self._contexts.usable(number).working)

    def tokens_to_last_page(self, number: int, tokens: int) -> int:
        """How many of `tokens` more tokens fill pages completely."""
        return self.tokens_to_fill(number, (len(self._contexts.usable(number).working) + tokens) // self._page_size)

    def next_key(self, number: int, tokens: Sequence[WorkingToken]) -> bytes | None:
        """The key of the page that `tokens` fill directly after the committed pages. None if they do not fill one."""
        context = self._contexts.usable(number)
        first = tokens[: self._page_size]
        if context.working or len(first) < self._page_size or min(map(_POSITION, first)) <= context.highest_position:
            return None
        return self._hasher.key(last_key(context.leaf), first)

    def adopt(self, context: Context, records: list[PageRecord]) -> None:
        """Commits leading working pages, filled by a restore, whose keys are known."""
        place = _end(context)
        for record in records:
            place = self._publish(context, place, record)
        self._move_to(context, place)

    def _follow(self, context: Context, new: Sequence[WorkingToken], pages: int) -> _Cached:
        size = self._page_size
        place, key, highest = _end(context), last_key(context.leaf), context.highest_position
        records: list[PageRecord] = []
        for number in range(pages):
            tokens = page_tokens(context.working, new, number * size, size)
            positions = list(map(_POSITION, tokens))
            if min(positions) <= highest:
                break
            key = self._hasher.key(key, tokens)
            found = self._trie.find(place, key, pack(tokens))
            if found is None:
                break
            place, highest = found, max(positions)
            records.append(place.segment.pages[place.pages - 1])
        return _Cached(place, records, highest)

    def _commit(self, context: Context, pages: int) -> CommitResult:
        if not pages:
            return NOTHING_COMMITTED
        size, first = self._page_size, context.committed
        before = context.block_table[first : first + pages]
        place, key = _end(context), last_key(context.leaf)
        records: list[PageRecord] = []
        outlives = _outlives(context)
        for start in range(0, pages * size, size):  # first all keys, then the pages: hashing may raise
            tokens = context.working[start : start + size]
            key = self._hasher.key(key, tokens)
            outlives = outlives and are_plain(tokens)
            records.append(PageRecord(key, pack(tokens), size, None, context.owner.user if outlives else None))
        for record in records:
            place = self._publish(context, place, record)
        self._move_to(context, place)
        computed = pages - min(pages, context.inherited_tokens // size)
        highest = max(map(_POSITION, context.working[: pages * size]))
        context.highest_position = max(context.highest_position, highest)
        _drop_leading_tokens(context, pages * size)
        after = context.block_table[first : first + pages]
        return CommitResult(pages, computed, sum(map(ne, before, after)))

    def _publish(self, context: Context, place: Place, record: PageRecord) -> Place:
        """Commits the first working page as `record`. If an equal page follows `place`, uses that one and frees its own
        (K4)."""
        number = context.committed
        own = context.block_table[number]
        context.committed += 1
        equal = self._trie.find(place, record.key, record.packed)
        if equal is not None:
            context.block_table[number] = page_at(equal)
            self._pool.free([own])
            there = equal.segment.pages[equal.pages - 1]
            self._pool.kept_states.inherit(record, there)
            return equal
        self._move_to(context, place)
        if record.page is not None:
            record = PageRecord(record.key, record.packed, record.rows, None, record.stored_for)
        record.page, record.user = own, context.owner.user
        context.leaf = self._trie.extend(context.leaf, record)
        return _end(context)

    def _move_to(self, context: Context, place: Place) -> None:
        if place != _end(context):
            context.leaf = self._trie.move(context.leaf, place)

    def _increasing_pages(self, context: Context, pages: int, *, one_by_one: bool = False) -> int:
        """How many leading full working pages, at most `pages`, have only positions above the committed ones (P7);
        `one_by_one`, also above those of the pages before them."""
        size, highest = self._page_size, context.highest_position
        for number in range(pages):
            positions = list(map(_POSITION, context.working[number * size : (number + 1) * size]))
            if min(positions) <= highest:
                return number
            if one_by_one:
                highest = max(positions)
        return pages

    def _keep_tokens(self, context: Context, tokens: int) -> None:
        if tokens < len(context.working):
            self._pool.break_promise(context.number)  # the step in flight read what goes now
        del context.working[tokens:]
        context.inherited_tokens = min(context.inherited_tokens, len(context.working))
        self._pool.kept_states.cut(context.states, context.committed * self._page_size + len(context.working))

    def _require_pages(self, verb: str, context: Context, pages: int) -> None:
        if pages > context.working_pages:
            raise PageBoundsError(
                f"{verb} {pages} pages: the context has {context.working_pages} working pages",
                hint="read working_page_count() first",
            )


def _end(context: Context) -> Place:
    return Place(context.leaf, len(context.leaf.pages))


def _outlives(context: Context) -> bool:
    """Whether the last committed page, and with it all before, may outlive the engine."""
    return not context.leaf.pages or context.leaf.pages[-1].stored_for is not None


def _drop_leading_tokens(context: Context, tokens: int) -> None:
    del context.working[:tokens]
    context.inherited_tokens = max(0, context.inherited_tokens - tokens)


def page_tokens(
    working: list[WorkingToken], new: Sequence[WorkingToken], start: int, size: int
) -> Sequence[WorkingToken]:
    """The tokens of the page that begins at `start`, counted from the end of the committed pages."""
    end, held = start + size, len(working)
    return [*working[start:end], *new[max(0, start - held) : max(0, end - held)]]


def _require_count(verb: str, count: int) -> None:
    if count < 0:
        raise InvalidArgumentError(f"{verb} {count}: the number is negative", hint="pass 0 or more")
