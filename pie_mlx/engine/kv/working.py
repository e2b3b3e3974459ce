"""Working pages: reserving, filling, truncating, committing, and attaching what is cached already."""

from collections.abc import Iterator, Sequence
from itertools import repeat
from operator import itemgetter, ne
from typing import NamedTuple

from pie_mlx.engine.kv.context import Context
from pie_mlx.engine.kv.keys import PageHasher
from pie_mlx.engine.kv.pool import never_fits
from pie_mlx.engine.kv.segment import PageRecord
from pie_mlx.engine.kv.trie import Place, PrefixTrie, last_key, page_at
from pie_mlx.engine.kv.values import NOTHING_COMMITTED, CommitResult, Rows
from pie_mlx.engine.kv.working_token import BareToken, WorkingToken, pack
from pie_mlx.errors import InvalidArgumentError, KvCapacityError, PageBoundsError, PageCommitError

_POSITION = itemgetter(1)


class PlainInput(NamedTuple):
    """Causal input without an adapter at the positions of its slots, the first of which is `start`."""

    tokens: Sequence[int]
    start: int

    def between(self, start: int, end: int) -> Iterator[BareToken]:
        """Tokens `start` to `end` (not included)."""
        positions = range(self.start + start, self.start + end)
        return zip(self.tokens[start:end], positions, repeat(None), repeat(0), repeat(0), repeat(0), strict=False)


class RecordedInput(NamedTuple):
    """Causal input at the positions of its slots, each token with what it is computed with."""

    tokens: Sequence[WorkingToken]

    def between(self, start: int, end: int) -> Iterator[BareToken]:
        """Tokens `start` to `end` (not included)."""
        return iter(self.tokens[start:end])


class _Cached(NamedTuple):
    """Pages in the pool that continue a context: where they end, which they are, their highest position."""

    place: Place
    pages: list[int]
    highest_position: int


def pages_for(tokens: int, page_size: int) -> int:
    """Pages that hold `tokens` tokens."""
    return -(-tokens // page_size)


class WorkingPages:
    """The operations on a resident context's own pages."""

    def __init__(self, trie: PrefixTrie, hasher: PageHasher, page_size: int) -> None:
        self._trie = trie
        self._pool = trie.pool
        self._hasher = hasher
        self._page_size = page_size

    def reserve(self, context: Context, pages: int) -> None:
        """Adds `pages` empty working pages (P4)."""
        self.require_possible(len(context.block_table), pages)
        context.block_table.extend(self._pool.take(pages, context.number, context.last_page))

    def require_possible(self, held: int, pages: int) -> None:
        """Refuses a request that no waiting can satisfy: `pages` pages for one who holds `held`."""
        _require_count("reserve", pages)
        if held + pages > self._pool.capacity:
            raise never_fits(held + pages, self._pool.capacity)

    def release(self, context: Context, pages: int) -> None:
        """Frees the last `pages` working pages with the tokens on them (P5)."""
        _require_count("release", pages)
        self._require_pages("release", context, pages)
        remaining = len(context.block_table) - pages
        freed = context.block_table[remaining:]
        del context.block_table[remaining:]
        self._pool.give(freed)
        _keep_tokens(context, context.working_pages * self._page_size)

    def truncate(self, context: Context, tokens: int) -> None:
        """Forgets the last `tokens` working tokens (P6)."""
        _require_count("truncate", tokens)
        if tokens > len(context.working):
            raise PageBoundsError(
                f"truncate {tokens} tokens: the context has {len(context.working)} working tokens",
                hint="committed pages cannot be truncated; fork before the point you want to return to",
            )
        _keep_tokens(context, len(context.working) - tokens)

    def rows(self, context: Context, count: int) -> Rows:
        """Where the next `count` tokens go."""
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

    def table_for(self, context: Context, length: int) -> Sequence[int] | None:
        """Pages that `length` slots will lie on if nobody interferes, at most one of them not reserved yet."""
        pages, table = pages_for(length, self._page_size), context.block_table
        if pages <= len(table):
            return table[:pages]
        promised = self._pool.promise(context.number, context.last_page) if pages == len(table) + 1 else None
        return None if promised is None else [*table, promised]

    def append(self, context: Context, tokens: Sequence[WorkingToken]) -> None:
        """The next slots now hold the KV of `tokens`."""
        room = context.working_pages * self._page_size - len(context.working)
        if len(tokens) > room:
            raise KvCapacityError(
                f"{len(tokens)} tokens do not fit: {room} slots are reserved and empty",
                hint="reserve working pages first",
            )
        context.working.extend(tokens)

    def commit(self, context: Context, pages: int) -> CommitResult:
        """Turns the first `pages` working pages into committed ones (P7)."""
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

    def commit_full(self, context: Context) -> CommitResult:
        """Commits every full working page up to the first that positions forbid (P10)."""
        full = len(context.working) // self._page_size
        return self._commit(context, self._increasing_pages(context, full)) if full else NOTHING_COMMITTED

    def attach_cached(self, context: Context, plain: PlainInput | RecordedInput, limit: int | None) -> int:
        """Attaches the pages already in the pool that the sequence continues with (K5-K7).

        Returns how many of the `plain` tokens they cover; at most the first `limit` of them.
        """
        working = len(context.working)
        allowed = working + (len(plain.tokens) if limit is None else min(limit, len(plain.tokens)))
        cached = self._follow(context, plain, allowed // self._page_size)
        if not cached.pages:
            return 0
        held = min(len(cached.pages), pages_for(working, self._page_size))
        table, first = context.block_table, context.committed
        self._pool.give(table[first : first + held])
        table[first : first + held] = cached.pages
        context.leaf = self._trie.move(context.leaf, cached.place)
        context.committed += len(cached.pages)
        context.highest_position = cached.highest_position
        covered = len(cached.pages) * self._page_size
        _drop_leading_tokens(context, covered)
        return max(0, covered - working)

    def next_key(self, context: Context, tokens: Sequence[WorkingToken]) -> bytes | None:
        """The key of the page that `tokens` begin behind committed ones; None where they do not."""
        first = tokens[: self._page_size]
        if context.working or len(first) < self._page_size or min(map(_POSITION, first)) <= context.highest_position:
            return None
        return self._hasher.key(last_key(context.leaf), first)

    def adopt(self, context: Context, records: list[PageRecord]) -> None:
        """Commits leading working pages whose identity is known: those a restore has filled."""
        place = _end(context)
        for record in records:
            place = self._publish(context, place, record)
        self._settle(context, place)

    def _follow(self, context: Context, plain: PlainInput | RecordedInput, pages: int) -> _Cached:
        size, lowest = self._page_size, context.highest_position
        place, key, highest = _end(context), last_key(context.leaf), lowest
        attached: list[int] = []
        for number in range(pages):
            tokens = _page_tokens(context.working, plain, number * size, size)
            positions = list(map(_POSITION, tokens))
            if min(positions) <= lowest:
                break
            key = self._hasher.key(key, tokens)
            found = self._trie.find(place, key, pack(tokens))
            if found is None:
                break
            place, highest = found, max(highest, *positions)
            attached.append(page_at(place))
        return _Cached(place, attached, highest)

    def _commit(self, context: Context, pages: int) -> CommitResult:
        if not pages:
            return NOTHING_COMMITTED
        size, first = self._page_size, context.committed
        before = context.block_table[first : first + pages]
        place, key = _end(context), last_key(context.leaf)
        records: list[PageRecord] = []
        for start in range(0, pages * size, size):  # all keys before the first page changes hands: making one may raise
            tokens = context.working[start : start + size]
            key = self._hasher.key(key, tokens)
            records.append(PageRecord(key, pack(tokens), size, None))
        for record in records:
            place = self._publish(context, place, record)
        self._settle(context, place)
        computed = pages - min(pages, context.inherited_tokens // size)
        highest = max(map(_POSITION, context.working[: pages * size]))
        context.highest_position = max(context.highest_position, highest)
        _drop_leading_tokens(context, pages * size)
        after = context.block_table[first : first + pages]
        return CommitResult(pages, computed, sum(map(ne, before, after)))

    def _publish(self, context: Context, place: Place, record: PageRecord) -> Place:
        """Commits the first working page as `record`, or drops it for an equal page after `place` (K4)."""
        number = context.committed
        own = context.block_table[number]
        context.committed += 1
        equal = self._trie.find(place, record.key, record.packed)
        if equal is not None:
            context.block_table[number] = page_at(equal)
            self._pool.give([own])
            return equal
        self._settle(context, place)
        if record.page is not None:
            record = PageRecord(record.key, record.packed, record.rows, None)
        record.page = own
        context.leaf = self._trie.extend(context.leaf, record)
        return _end(context)

    def _settle(self, context: Context, place: Place) -> None:
        if place != _end(context):
            context.leaf = self._trie.move(context.leaf, place)

    def _increasing_pages(self, context: Context, pages: int) -> int:
        """How many of the first `pages` full working pages have only positions above the committed ones (P7)."""
        size, highest = self._page_size, context.highest_position
        for number in range(pages):
            page = context.working[number * size : (number + 1) * size]
            if min(map(_POSITION, page)) <= highest:
                return number
        return pages

    def _require_pages(self, verb: str, context: Context, pages: int) -> None:
        if pages > context.working_pages:
            raise PageBoundsError(
                f"{verb} {pages} pages: the context has {context.working_pages} working pages",
                hint="read working_page_count() first",
            )


def _end(context: Context) -> Place:
    return Place(context.leaf, len(context.leaf.pages))


def _keep_tokens(context: Context, tokens: int) -> None:
    del context.working[tokens:]
    context.inherited_tokens = min(context.inherited_tokens, len(context.working))


def _drop_leading_tokens(context: Context, tokens: int) -> None:
    del context.working[:tokens]
    context.inherited_tokens = max(0, context.inherited_tokens - tokens)


def _page_tokens(
    working: list[WorkingToken], plain: PlainInput | RecordedInput, start: int, size: int
) -> tuple[BareToken, ...]:
    end, held = start + size, len(working)
    return (*working[start:end], *plain.between(max(0, start - held), max(0, end - held)))


def _require_count(verb: str, count: int) -> None:
    if count < 0:
        raise InvalidArgumentError(f"{verb} {count}: the number is negative", hint="pass 0 or more")
