"""Every operation of the page store in any order: the books balance and every context reads its own content."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pie_mlx.engine.kv import WorkingToken
from pie_mlx.errors import OutOfPagesError, PageBoundsError, PageCommitError, SnapshotNotFoundError
from tests.engine.kv.world import World

PLACE = st.integers(0, 30)
PROMPTS = st.one_of(
    st.integers(0, 14).map(lambda size: [0] * size),
    st.lists(st.integers(0, 1), max_size=14),
)
MOST_CONTEXTS = 5
USERS = st.sampled_from(["ann", "bob"])
NAMES = st.sampled_from(["a", "b"])
CHANGES = st.sampled_from(
    [
        WorkingToken(0, 5),
        WorkingToken(0, -3),
        WorkingToken(0, 0, b"\1\0\0\0"),
        WorkingToken(0, 0, None, 1, 1),
        WorkingToken(0, 0, None, 1, 2),
        WorkingToken(0, 0, None, 1, 2, -9),
    ]
)


class PageMachine(RuleBasedStateMachine):
    """A small pool, few token ids and few names, so that sharing, pressure and reuse happen all the time."""

    weak_keys = False

    @initialize(pages=st.integers(6, 14), size=st.sampled_from([2, 4]), spill_lost=st.booleans())
    def start(self, pages: int, size: int, spill_lost: bool) -> None:
        self.world = World(pages, size, weak_keys=self.weak_keys)
        self.seconds = 0.0
        self.world.store.pool.clock = lambda: self.seconds
        self.world.spill_lost = spill_lost

    @property
    def resident(self) -> list[int]:
        world = self.world
        return [c for c in world.contexts if world.store.contexts[c].resident and c not in world.restoring]

    @property
    def off_pool(self) -> list[int]:
        return [c for c in self.world.contexts if not self.world.store.contexts[c].resident]

    def one_of(self, contexts: list[int], place: int) -> int:
        return contexts[place % len(contexts)]

    @precondition(lambda self: len(self.world.contexts) < MOST_CONTEXTS)
    @rule()
    def create(self) -> None:
        self.world.create()

    @precondition(lambda self: self.resident)
    @rule(place=PLACE, ids=PROMPTS, limited=st.booleans(), commit=st.booleans())
    def plain_pass(self, place: int, ids: list[int], limited: bool, commit: bool) -> None:
        limit = len(ids) - 1 if limited and ids else None
        attached = self.world.run(self.one_of(self.resident, place), ids, limit=limit, commit=commit)
        assert limit is None or attached <= limit

    @precondition(lambda self: self.resident)
    @rule(place=PLACE, ids=PROMPTS, change=CHANGES)
    def other_pass(self, place: int, ids: list[int], change: WorkingToken) -> None:
        self.world.run(self.one_of(self.resident, place), ids, change=change)

    @precondition(lambda self: self.resident)
    @rule(place=PLACE, ids=PROMPTS, suspend=st.booleans(), publish=st.booleans())
    def failing_pass(self, place: int, ids: list[int], suspend: bool, publish: bool) -> None:
        context = self.one_of(self.resident, place)
        before = self.world.store.contexts[context].counters()
        self.world.fail(context, ids, suspend=suspend, publish=publish)
        assert self.world.store.contexts[context].counters() == before

    @precondition(lambda self: self.world.contexts and len(self.world.contexts) < MOST_CONTEXTS)
    @rule(place=PLACE)
    def fork(self, place: int) -> None:
        world = self.world
        source = self.one_of(list(world.contexts), place)
        before = world.store.usage()
        try:
            world.fork(source)
        except OutOfPagesError:
            assert world.store.usage() == before

    @precondition(lambda self: self.world.contexts)
    @rule(place=PLACE)
    def release(self, place: int) -> None:
        context = self.one_of(list(self.world.contexts), place)
        self.world.release(context)
        self.world.store.release(context)

    @precondition(lambda self: self.resident)
    @rule(place=PLACE, pages=st.integers(0, 3))
    def reserve(self, place: int, pages: int) -> None:
        world, context = self.world, self.one_of(self.resident, place)
        book = world.contexts[context]
        total = book.committed + book.working_pages + pages
        if total > world.pages or pages > world.store.pool.available():
            with pytest.raises(OutOfPagesError) as caught:
                world.store.working.reserve(context, pages)
            assert caught.value.capacity == world.pages
            return
        world.store.working.reserve(context, pages)
        book.working_pages += pages
        world.move()

    @precondition(lambda self: self.resident)
    @rule(place=PLACE)
    def foresee(self, place: int) -> None:
        """A look at the next slot takes nothing from anybody."""
        store, context = self.world.store, self.one_of(self.resident, place)
        before = store.usage(), store.pool.available()
        store.working.table_for(context, store.sequence_length(context) + 1)
        assert (store.usage(), store.pool.available()) == before

    @precondition(lambda self: self.resident)
    @rule(place=PLACE, pages=st.integers(0, 3))
    def release_working(self, place: int, pages: int) -> None:
        world, context = self.world, self.one_of(self.resident, place)
        book = world.contexts[context]
        if pages > book.working_pages:
            with pytest.raises(PageBoundsError):
                world.store.working.release(context, pages)
            return
        world.store.working.release(context, pages)
        world.truncated(context)
        book.working_pages -= pages
        self._keep(context, (book.committed + book.working_pages) * world.size)

    @precondition(lambda self: self.resident)
    @rule(place=PLACE, tokens=st.integers(0, 5))
    def truncate(self, place: int, tokens: int) -> None:
        world, context = self.world, self.one_of(self.resident, place)
        book = world.contexts[context]
        if tokens > len(book.tokens) - book.committed * world.size:
            with pytest.raises(PageBoundsError):
                world.store.working.truncate(context, tokens)
            return
        world.store.working.truncate(context, tokens)
        world.truncated(context)
        self._keep(context, len(book.tokens) - tokens)

    def _keep(self, context: int, tokens: int) -> None:
        world, book = self.world, self.world.contexts[context]
        del book.tokens[tokens:]
        book.inherited = min(book.inherited, len(book.tokens) - book.committed * world.size)

    @precondition(lambda self: self.resident)
    @rule(place=PLACE, pages=st.integers(0, 3))
    def commit(self, place: int, pages: int) -> None:
        world, context = self.world, self.one_of(self.resident, place)
        book = world.contexts[context]
        first = book.committed * world.size
        wanted = book.tokens[first : first + pages * world.size]
        refused: type[Exception] | None = None
        if pages > book.working_pages:
            refused = PageBoundsError
        elif len(wanted) < pages * world.size or any(token.position <= book.highest for token in wanted):
            refused = PageCommitError
        if refused:
            with pytest.raises(refused):
                world.store.working.commit(context, pages)
            return
        result = world.store.working.commit(context, pages)
        assert result.pages == pages
        world.account_commit(context, pages, result.computed)

    @precondition(lambda self: self.world.contexts)
    @rule(place=PLACE, stash=st.booleans())
    def suspend(self, place: int, stash: bool) -> None:
        world = self.world
        context = self.one_of(list(world.contexts), place)
        freed = world.held_alone(context)
        available = world.store.pool.available()
        world.suspend(context, stash=stash)
        assert world.store.pool.available() == available + freed

    @precondition(lambda self: self.off_pool)
    @rule(place=PLACE)
    def begin_restore(self, place: int) -> None:
        world, context = self.world, self.one_of(self.off_pool, place)
        need, available = world.store.suspender.restore_need(context), world.store.pool.available()
        if need > available:
            with pytest.raises(OutOfPagesError):
                world.begin_restore(context)
            assert not world.store.contexts[context].resident
            return
        world.begin_restore(context)
        assert world.store.pool.available() == available - need

    @precondition(lambda self: self.world.restoring)
    @rule(place=PLACE)
    def finish_restore(self, place: int) -> None:
        self.world.finish_restore(self.one_of(list(self.world.restoring), place))

    @precondition(lambda self: self.world.contexts)
    @rule(place=PLACE, user=USERS, name=NAMES, as_tokens=st.booleans())
    def save(self, place: int, user: str, name: str, as_tokens: bool) -> None:
        available = self.world.store.pool.available()
        save = self.world.save_tokens if as_tokens else self.world.save
        save(self.one_of(list(self.world.contexts), place), user, name, object())
        assert self.world.store.pool.available() == available

    @precondition(lambda self: len(self.world.contexts) < MOST_CONTEXTS)
    @rule(user=USERS, name=NAMES, take=st.booleans())
    def open(self, user: str, name: str, take: bool) -> None:
        there = (user, name) in self.world.snapshots
        opened = self.world.open(user, name, take=take)
        assert (opened is not None) == there

    @rule(user=USERS, name=NAMES)
    def delete(self, user: str, name: str) -> None:
        world = self.world
        if (user, name) in world.snapshots:
            world.store.snapshots.delete(user, name)
            del world.snapshots[user, name]
            return
        with pytest.raises(SnapshotNotFoundError):
            world.store.snapshots.delete(user, name)

    @precondition(lambda self: self.resident)
    @rule(place=PLACE, seconds=st.integers(1, 5), priority=st.integers(1, 3))
    def keep(self, place: int, seconds: int, priority: int) -> None:
        self.world.store.keep(self.one_of(self.resident, place), self.seconds + seconds, priority)

    @precondition(lambda self: self.world.contexts)
    @rule(place=PLACE)
    def demote(self, place: int) -> None:
        self.world.store.contexts[self.one_of(list(self.world.contexts), place)].demoted = True

    @rule(seconds=st.integers(1, 4))
    def time_passes(self, seconds: int) -> None:
        self.seconds += seconds

    @invariant()
    def everything_holds(self) -> None:
        if hasattr(self, "world"):
            self.world.check()

    def teardown(self) -> None:
        """When everything is let go, every page is free or cached and no spilled page is left."""
        if not hasattr(self, "world"):
            return
        world = self.world
        for context in list(world.contexts):
            world.release(context)
        for user, name in list(world.snapshots):
            world.store.snapshots.delete(user, name)
        world.contexts.clear()
        world.check()
        usage = world.store.usage()
        assert usage.free + usage.cached == usage.capacity
        assert not world.spill


class CollidingPageMachine(PageMachine):
    """The same with page keys that collide all the time (K3)."""

    weak_keys = True


TestPageMachine = PageMachine.TestCase
TestPageMachine.settings = settings(max_examples=30, stateful_step_count=50)
TestCollidingPageMachine = CollidingPageMachine.TestCase
TestCollidingPageMachine.settings = settings(max_examples=20, stateful_step_count=50)
