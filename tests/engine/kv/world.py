"""A page store together with the memory it counts, so that tests see what a context would really read.

The content of a slot stands for KV: it is a digest of the token and of everything before it. Copies, reads and fills
are carried out as an engine would, in the order the store asks for.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pie_mlx.engine.kv import (
    Fill,
    PageCopy,
    PageCount,
    PageHasher,
    PageStore,
    Restore,
    WorkingToken,
    count_pages,
    share_out,
)

Content = int


@dataclass
class Book:
    """What a context must hold: all its tokens, and its page counts."""

    tokens: list[WorkingToken] = field(default_factory=list)
    committed: int = 0
    working_pages: int = 0
    highest: int = -1
    inherited: int = 0


class WeakHasher(PageHasher):
    """Keys of so few values that different pages often collide."""

    def key(self, parent: bytes, tokens: Sequence[WorkingToken]) -> bytes:
        return bytes([super().key(parent, tokens)[0] % 3])


class World:
    """One store, its memory, its spill file, and what every context and snapshot should be."""

    def __init__(self, pages: int = 12, page_size: int = 4, *, weak_keys: bool = False) -> None:
        hasher = WeakHasher(b"model", page_size) if weak_keys else None
        self.store = self.opened(pages, page_size, hasher)
        self.size = page_size
        self.pages = pages
        self.memory: list[list[Content | None]] = [[None] * page_size for _ in range(pages)]
        self.spill: dict[int, list[Content | None]] = {}
        self.spill_lost = True
        self.contexts: dict[int, Book] = {}
        self.snapshots: dict[tuple[str, str], tuple[Book, object]] = {}
        self.restoring: dict[int, Restore] = {}
        self._next_key = 0

    def opened(self, pages: int, page_size: int, hasher: PageHasher | None) -> PageStore:
        return PageStore(pages=pages, page_size=page_size, identity=b"model", hasher=hasher)

    # What the engine does around the store.

    def move(self, copies: Sequence[PageCopy] = ()) -> None:
        """Spills what was reclaimed, then carries out copies."""
        for content in self.store.pool.pop_lost():
            if self.spill_lost:
                self.store.images.mark_spilled(content, self.write(content.page))
        for copy in copies:
            self.memory[copy.target][: copy.rows] = self.memory[copy.source][: copy.rows]
        self.drop_released()

    def write(self, page: int) -> int:
        self._next_key += 1
        self.spill[self._next_key] = self.memory[page].copy()
        return self._next_key

    def drop_released(self) -> None:
        for key in self.store.images.pop_released():
            del self.spill[key]

    def content(self, context: int, slot: int) -> Content | None:
        page = self.store.contexts.resident(context).block_table[slot // self.size]
        return self.memory[page][slot % self.size]

    def compute(self, context: int, start: int, tokens: Sequence[WorkingToken]) -> None:
        """Runs the model: each slot's content follows from the one before, read from memory."""
        for slot, token in enumerate(tokens, start):
            before = self.content(context, slot - 1) if slot else 0
            page = self.store.contexts.resident(context).block_table[slot // self.size]
            self.memory[page][slot % self.size] = hash((before, token))

    # Operations, with their effect on what must be.

    def create(self) -> int:
        context = self.store.create()
        self.contexts[context] = Book()
        return context

    def filled(self, ids: Sequence[int]) -> int:
        """A new context with the KV of `ids`."""
        context = self.create()
        self.run(context, ids)
        return context

    def press(self) -> int:
        """A context that takes every page that can be had, so that no unheld content stays in the pool."""
        hog = self.create()
        pages = self.store.pool.available()
        self.store.working.reserve(hog, pages)
        self.contexts[hog].working_pages = pages
        self.move()
        return hog

    def fork(self, context: int) -> int:
        fork = self.store.fork(context)
        self.move(fork.copies)
        self.contexts[fork.context] = self._like(self.contexts[context])
        return fork.context

    def run(
        self,
        context: int,
        ids: Sequence[int],
        *,
        limit: int | None = None,
        commit: bool = True,
        attach: bool = True,
        change: WorkingToken | None = None,
    ) -> int:
        """A pass as an engine makes it; returns how many tokens were attached. `change` gives what is not plain."""
        book, store = self.contexts[context], self.store
        start = len(book.tokens)
        tokens = [WorkingToken(token, start + i) for i, token in enumerate(ids)]
        if change is not None:
            tokens = [change._replace(token=t.token, position=max(0, t.position + change.position)) for t in tokens]
        attached = 0
        if attach and (change is None or (change.mask is None and change.position == 0)):
            attached = self.attach(context, tokens, limit)
            self._account_attached(context, tokens[:attached])
        rest = tokens[attached:]
        lacking = store.working.lacking(context, len(rest))
        if lacking + self.store.states.lacking_pages(context) > store.pool.available():
            self.finish_pass(context, commit)
            return attached
        store.states.take_pages(context)
        store.working.reserve(context, lacking)
        self.move()
        book.working_pages += lacking
        slots = store.working.rows(context, len(rest)).slots
        assert slots == [self._slot(context, start + attached + i) for i in range(len(rest))]
        self.compute(context, start + attached, rest)
        store.working.append(context, rest)
        book.tokens += rest
        self.finish_pass(context, commit)
        return attached

    def attach(self, context: int, tokens: Sequence[WorkingToken], limit: int | None) -> int:
        return self.store.working.match_prefix(context, tokens, limit)

    def fail(self, context: int, ids: Sequence[int], *, suspend: bool, publish: bool = False) -> None:
        """A pass that fails half-way, perhaps while the context is off-pool, or leaving to others what it computed."""
        store, book = self.store, self.contexts[context]
        before, start = store.contexts.usable(context).mark(), len(book.tokens)
        tokens = [WorkingToken(token, start + i) for i, token in enumerate(ids)]
        attached = self.attach(context, tokens, None)
        rest = tokens[attached:]
        lacking = store.working.lacking(context, len(rest))
        if lacking + store.states.lacking_pages(context) <= store.pool.available():
            store.states.take_pages(context)
            store.working.reserve(context, lacking)
            self.move()
            half = rest[: len(rest) // 2]
            self.compute(context, start + attached, half)
            store.working.append(context, half)
        if publish:
            store.working.commit_full(context)
        if suspend:
            self.suspend(context)
        self.move(store.undoer.rollback(context, before))

    def finish_pass(self, context: int, commit: bool) -> None:
        if commit:
            result = self.store.working.commit_full(context)
            self.account_commit(context, result.pages, result.computed)

    def account_commit(self, context: int, pages: int, computed: int) -> None:
        book = self.contexts[context]
        assert computed == pages - min(pages, book.inherited // self.size)
        first = book.committed * self.size
        committed = book.tokens[first : first + pages * self.size]
        book.highest = max([book.highest, *(token.position for token in committed)])
        book.committed += pages
        book.working_pages -= pages
        book.inherited = max(0, book.inherited - pages * self.size)

    def _account_attached(self, context: int, tokens: list[WorkingToken]) -> None:
        book, counters = self.contexts[context], self.store.contexts[context].counters()
        pages = counters.committed - book.committed
        held = min(pages, -(-(len(book.tokens) - book.committed * self.size) // self.size))
        book.tokens += tokens
        first = book.committed * self.size
        attached = book.tokens[first : first + pages * self.size]
        book.highest = max([book.highest, *(token.position for token in attached)])
        book.committed += pages
        book.working_pages -= held
        book.inherited = max(0, book.inherited - pages * self.size)

    def truncated(self, context: int) -> None:
        """The context has lost its last tokens."""

    def suspend(self, context: int, *, stash: bool = False) -> None:
        suspension = self.store.suspender.suspend(context)
        self.restoring.pop(context, None)
        for content in suspension.contents if stash else ():
            self.store.images.mark_spilled(content, self.write(content.page))

    def begin_restore(self, context: int) -> None:
        restore = self.store.suspender.restore(context)
        self.move(restore.copies)
        self.restoring[context] = replace(restore, copies=())

    def finish_restore(self, context: int) -> None:
        restore = self.restoring.pop(context)
        for read in restore.reads:
            self.memory[read.target][: read.rows] = self.spill[read.key][: read.rows]
        for fill in restore.fills:
            self.compute(context, fill.start, list(self.tokens_of(fill)))
        self.store.suspender.finish_restore(context)
        self.drop_released()

    def restore(self, context: int) -> None:
        self.begin_restore(context)
        self.finish_restore(context)

    def tokens_of(self, fill: Fill) -> Iterator[WorkingToken]:
        for token, position, mask in zip(fill.tokens, fill.positions, fill.masks, strict=True):
            yield WorkingToken(token, position, mask, fill.adapter, fill.adapter_version, fill.zo_seed)

    def save(self, context: int, user: str, name: str, notes: object = None) -> None:
        self.move(self.store.snapshots.save(context, user, name, notes))
        self.snapshots[user, name] = (self._like(self.contexts[context]), notes)

    def save_tokens(self, context: int, user: str, name: str, notes: object = None) -> None:
        """A snapshot as another engine would have left it: its tokens, without content."""
        self.store.put_snapshot(user, name, self.store.contexts[context].transcript(), notes)
        self.snapshots[user, name] = (self._like(self.contexts[context]), notes)

    def open(self, user: str, name: str, *, take: bool = False) -> int | None:
        opened = self.store.take(user, name) if take else self.store.open(user, name)
        if opened is None:
            return None
        self.move(opened.copies)
        book, notes = self.snapshots.pop((user, name)) if take else self.snapshots[user, name]
        assert opened.notes is notes
        assert opened.resident == self.store.contexts[opened.context].resident
        self.contexts[opened.context] = self._like(book)
        return opened.context

    def release(self, context: int) -> None:
        self.store.release(context)
        self.restoring.pop(context, None)
        del self.contexts[context]

    # What must hold.

    def check(self) -> None:
        self.store.check_integrity()
        self.drop_released()
        for context, book in self.contexts.items():
            self.check_context(context, book)
        self.check_figures()

    def check_context(self, context: int, book: Book) -> None:
        counters = self.store.contexts[context].counters()
        working = len(book.tokens) - book.committed * self.size
        assert (counters.committed, counters.working, counters.working_tokens) == (
            book.committed,
            book.working_pages,
            working,
        )
        if self.store.contexts[context].resident and context not in self.restoring:
            assert list(self.store.contexts.usable(context).working) == book.tokens[book.committed * self.size :]
            expected: Content = 0
            for slot, token in enumerate(book.tokens):
                expected = hash((expected, token))
                assert self.content(context, slot) == expected, f"slot {slot} of context {context}"

    def tables(self) -> dict[int, list[int]]:
        """The block table of every resident context."""
        store = self.store
        return {
            context: [*store.contexts[context].block_table, *store.contexts[context].state_pages]
            for context in self.contexts
            if store.contexts[context].resident
        }

    def held_alone(self, context: int) -> int:
        """Pages that nobody else holds, which become available when the context leaves; 0 off the pool."""
        tables = self.tables()
        holders = Counter(page for table in tables.values() for page in table)
        return sum(holders[page] == 1 for page in tables.get(context, ()))

    def check_figures(self) -> None:
        """K9 and the pool's totals, counted the slow way."""
        store, tables = self.store, self.tables()
        holders = Counter(page for table in tables.values() for page in table)
        effective = share_out(store.contexts).effective
        assert set(effective) == set(tables)
        for context, table in tables.items():
            assert abs(effective[context] - sum(1 / holders[page] for page in table)) < 1e-9
        self.check_holdings()
        self.check_counts(tables)
        usage = store.usage()
        assert usage.used == len(holders)
        assert usage.shared == sum(count > 1 for count in holders.values())
        assert usage.free + usage.cached + usage.snapshot_only == store.pool.available() == self.pages - len(holders)

    def check_counts(self, tables: Mapping[int, Sequence[int]]) -> None:
        """Own and shared pages of two holders, contexts of even and of odd numbers, each page counted once."""
        held = [{page for number, table in tables.items() if number % 2 == rest for page in table} for rest in (0, 1)]
        counts = count_pages({rest: [c for c in self.store.contexts if c.number % 2 == rest] for rest in (0, 1)})
        for rest in (0, 1):
            shared = held[rest] & held[1 - rest]
            assert counts[rest] == PageCount(len(held[rest] - shared), len(shared))

    def check_holdings(self) -> None:
        """The planner's picture adds up: private pages and shares of runs are the effective pages."""
        held = self.store.holdings()
        runs = {run.run: run for run in held.runs}
        for context, effective in held.effective.items():
            shares = sum(runs[number].pages / runs[number].holders for number in held.runs_of[context])
            assert abs(held.private_pages[context] + shares - effective) < 1e-9
        for context in self.contexts:
            if not self.store.contexts[context].resident:
                found = sum(runs[number].pages for number in held.runs_of[context])
                counters = self.store.contexts[context].counters()
                assert self.store.suspender.restore_need(context) >= counters.committed + counters.working - found

    def _like(self, book: Book) -> Book:
        working = len(book.tokens) - book.committed * self.size
        return Book(book.tokens.copy(), book.committed, -(-working // self.size), book.highest, working)

    def _slot(self, context: int, slot: int) -> int:
        return self.store.contexts.resident(context).block_table[slot // self.size] * self.size + slot % self.size
