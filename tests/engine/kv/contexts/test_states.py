"""Recurrent layers over the page store, in any order of operations: no context goes on from a state of other tokens.

The state of a context is a digest of all of its tokens, and so is what it stores: exact, and nothing is ever forgotten.
"""

from collections.abc import Sequence

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from pie_mlx.engine.kv import KeptState, PageHasher, PageStore, WorkingToken
from tests.engine.kv.world import Content, World

STATE_BYTES = 10
MOST_CONTEXTS = 5
PLACE = st.integers(0, 30)
IDS = st.one_of(st.integers(1, 9).map(lambda size: [0] * size), st.lists(st.integers(0, 1), min_size=1, max_size=9))


class StatefulWorld(World):
    """A World whose tokens can be computed after the state of those before only."""

    def __init__(self, pages: int, page_size: int, kept: int, *, weak_keys: bool = False) -> None:
        self._kept = kept
        super().__init__(pages, page_size, weak_keys=weak_keys)
        self.live: dict[int, tuple[int, Content]] = {}
        self.disk: dict[int, Content] = {}
        self._written: frozenset[int] | None = None

    def opened(self, pages: int, page_size: int, hasher: PageHasher | None) -> PageStore:
        return PageStore(
            pages=pages,
            page_size=page_size,
            identity=b"model",
            hasher=hasher,
            state_pages=1,
            kept_state_bytes=self._kept * STATE_BYTES,
        )

    # What the engine does with states.

    def compute(self, context: int, start: int, tokens: Sequence[WorkingToken]) -> None:
        place, state = self.live.get(context, (0, 0)) if start else (0, 0)
        assert place == start, "it would go on from a state of other tokens"
        held = self.store.contexts.resident(context)
        for slot, token in enumerate(tokens, start):
            state = hash((state, token))
            if self._written is None or slot // self.size in self._written:
                self.memory[held.block_table[slot // self.size]][slot % self.size] = state
        self.live[context] = start + len(tokens), state

    def remember(self, context: int) -> bool:
        """Whether the context can compute: what it should remember is there, or computed again. Else it is off-pool."""
        store, tokens = self.store, self.store.sequence_length(context)
        if tokens and self.live.get(context, (0, 0))[0] != tokens:
            kept = store.states.newest(context, tokens)
            if kept is not None and kept.tokens == tokens and kept.state is not None:
                self.live[context] = tokens, store.pool.kept_states.use(kept)
                return True
            self.suspend(context)
            if store.suspender.restore_need(context) > store.pool.available():
                return False  # only where keys collide: the others of its pages are found by no lookup
            self.restore(context)
        return True

    def keep(self, context: int, *, shared: bool) -> None:
        tokens, state = self.live.get(context, (0, 0))
        if tokens and self.store.contexts[context].usable and tokens <= self.store.sequence_length(context):
            self.store.states.keep(context, state, tokens, STATE_BYTES, shared=shared)

    def move_states(self) -> None:
        """What was dropped goes to the disk, which may be full."""
        for kept, state in self.store.pool.kept_states.pop_lost():
            if self.spill_lost:
                self._next_key += 1
                self.disk[self._next_key] = state
                self.store.pool.kept_states.mark_spilled(kept, self._next_key)
        for key in self.store.pool.kept_states.pop_released():
            del self.disk[key]

    def read(self, kept: KeptState) -> Content:
        return self.disk[kept.spill] if kept.state is None else kept.state

    # Operations.

    def attach(self, context: int, tokens: Sequence[WorkingToken], limit: int | None) -> int:
        working = self.store.working
        records = working.cached_records(context, tokens, len(tokens) if limit is None else limit)
        for depth, record in reversed(list(enumerate(records, 1))):
            covered, kept = working.tokens_to_fill(context, depth), record.checkpoint
            if kept is not None and kept.state is not None and covered > 0:
                working.match_prefix(context, tokens, covered)
                self.live[context] = kept.tokens, kept.state
                return covered
        return 0

    def run(self, context: int, ids: Sequence[int], **options: object) -> int:
        return super().run(context, ids, **options) if self.remember(context) else 0  # type: ignore[arg-type]

    def fail(self, context: int, ids: Sequence[int], *, suspend: bool, publish: bool = False) -> None:
        if not self.remember(context):
            return
        before = self.live.get(context)
        super().fail(context, ids, suspend=suspend, publish=publish)
        self.live.pop(context, None)
        if before is not None and self.store.contexts[context].usable:
            self.live[context] = before

    def fork(self, context: int) -> int:
        child = super().fork(context)
        if context in self.live:
            self.live[child] = self.live[context]
        return child

    def truncated(self, context: int) -> None:
        if self.live.get(context, (0, 0))[0] > self.store.sequence_length(context):
            del self.live[context]

    def suspend(self, context: int, *, stash: bool = False) -> None:
        self.keep(context, shared=False)
        super().suspend(context, stash=stash)
        self.live.pop(context, None)

    def begin_restore(self, context: int) -> None:
        super().begin_restore(context)
        self.move_states()
        kept = self.restoring[context].state
        if kept is not None:
            self.live[context] = kept.tokens, self.read(kept)

    def finish_restore(self, context: int) -> None:
        self._written = self.restoring[context].written
        super().finish_restore(context)
        self._written = None
        assert self.live.get(context, (0, 0))[0] == self.store.sequence_length(context)

    def release(self, context: int) -> None:
        super().release(context)
        self.live.pop(context, None)

    def check(self) -> None:
        super().check()
        self.move_states()
        for context, (tokens, state) in self.live.items():
            if self.store.contexts[context].usable:
                expected: Content = 0
                for token in self.contexts[context].tokens[:tokens]:
                    expected = hash((expected, token))
                assert state == expected, f"context {context} remembers other tokens"


class StateMachine(RuleBasedStateMachine):
    """A small pool with room for few states, and programs of few token ids, so that everything is shared and lost."""

    weak_keys = False

    @initialize(pages=st.integers(8, 14), size=st.sampled_from([2, 4]), lost=st.booleans(), kept=st.integers(0, 8))
    def start(self, pages: int, size: int, lost: bool, kept: int) -> None:
        self.world = StatefulWorld(pages, size, kept, weak_keys=self.weak_keys)
        self.world.spill_lost = lost
        for _ in range(2):
            self.world.filled([0] * 5)

    def resident(self, place: int) -> int:
        """A context that is in the pool, perhaps again; the others make way. A new one where there is none."""
        world = self.world
        if not world.contexts:
            world.create()
        context = list(world.contexts)[place % len(world.contexts)]
        if not world.store.contexts[context].resident:
            while world.store.suspender.restore_need(context) > world.store.pool.available():
                world.suspend(next(each for each in world.contexts if world.store.contexts[each].resident))
            world.restore(context)
        return context

    @rule(place=PLACE, ids=IDS, checkpoint=st.booleans())
    def compute(self, place: int, ids: list[int], checkpoint: bool) -> None:
        context = self.resident(place)
        self.world.run(context, ids)
        if checkpoint and self.world.store.contexts[context].usable:
            self.world.keep(context, shared=True)

    @rule(place=PLACE, ids=IDS, suspend=st.booleans(), publish=st.booleans())
    def fail(self, place: int, ids: list[int], suspend: bool, publish: bool) -> None:
        self.world.fail(self.resident(place), ids, suspend=suspend, publish=publish)

    @rule(place=PLACE, tokens=st.integers(1, 3), ids=IDS)
    def truncate(self, place: int, tokens: int, ids: list[int]) -> None:
        world, context = self.world, self.resident(place)
        world.run(context, [1, 1], commit=False)
        if not world.store.contexts[context].resident:
            return
        book = world.contexts[context]
        tokens = min(tokens, len(book.tokens) - book.committed * world.size)
        world.store.working.truncate(context, tokens)
        world.truncated(context)
        del book.tokens[len(book.tokens) - tokens :]
        book.inherited = min(book.inherited, len(book.tokens) - book.committed * world.size)
        world.run(context, ids)

    @rule(place=PLACE)
    def fork(self, place: int) -> None:
        world, context = self.world, self.resident(place)
        if len(world.contexts) < MOST_CONTEXTS and world.store.pages_to_fork(context) <= world.store.pool.available():
            world.fork(context)

    @rule(place=PLACE, stash=st.booleans(), lose=st.booleans())
    def suspend(self, place: int, stash: bool, lose: bool) -> None:
        """Perhaps until nothing of it is in the pool any more."""
        world, context = self.world, self.resident(place)
        world.suspend(context, stash=stash)
        if lose:
            world.release(world.press())

    @rule(place=PLACE, take=st.booleans())
    def save_and_open(self, place: int, take: bool) -> None:
        world, context = self.world, self.resident(place)
        world.keep(context, shared=True)
        world.save(context, "ann", "a")
        if len(world.contexts) < MOST_CONTEXTS:
            world.open("ann", "a", take=take)

    @rule(place=PLACE)
    def release(self, place: int) -> None:
        if len(self.world.contexts) > 1:
            self.world.release(list(self.world.contexts)[place % len(self.world.contexts)])

    @rule()
    def lose_states(self) -> None:
        self.world.store.pool.kept_states.clear()
        self.world.move_states()

    @rule(place=PLACE)
    def damage(self, place: int) -> None:
        """A state on the disk that does not read back is forgotten."""
        held = map(self.world.store.contexts.__getitem__, self.world.contexts)
        images = [context.image for context in held if context.image is not None]
        spilled = [kept for image in images for kept in image.states if kept.spill is not None]
        if spilled:
            self.world.store.pool.kept_states.forget_spill(spilled[place % len(spilled)])

    @invariant()
    def everything_holds(self) -> None:
        if hasattr(self, "world"):
            self.world.check()

    def teardown(self) -> None:
        """When everything is let go, no state is on the disk, and only pages of the cache have any."""
        if not hasattr(self, "world"):
            return
        world = self.world
        for context in list(world.contexts):
            world.release(context)
        for user, name in list(world.snapshots):
            world.store.snapshots.delete(user, name)
        world.contexts.clear()
        world.check()
        world.press()
        world.move_states()
        assert not len(world.store.pool.kept_states)
        assert not world.disk


class CollidingStateMachine(StateMachine):
    """The same with page keys that collide all the time (K3)."""

    weak_keys = True


TestStateMachine = StateMachine.TestCase
TestStateMachine.settings = settings(max_examples=25, stateful_step_count=30)
TestCollidingStateMachine = CollidingStateMachine.TestCase
TestCollidingStateMachine.settings = settings(max_examples=10, stateful_step_count=30)
