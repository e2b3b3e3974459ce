"""Whose passes run where several users have some."""

import asyncio
import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from inferlet import Context
from pie_mlx.engine.kv import PageStore
from pie_mlx.engine.policies import Chunk, Limits, SharingMode
from pie_mlx.engine.scheduler.forward_task import MOST_STEPS, ForwardTask, PassContinuation
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.scheduler.sharing import DeviceSharing
from pie_mlx.engine.scheduler.tick_batch import further_steps
from pie_mlx.engine.scheduler.tick_state import TickState, Turn
from pie_mlx.events import TickCompleted
from tests.engine.running import Running, running

pytestmark = pytest.mark.usefixtures("random_model")

HEAVY = "mallory"


@dataclass
class Device:
    """A clock, and what a batch takes: `fixed` seconds and `row` more for each context. Programs come back at once; the
    loop then works `call` seconds for each, `late` more after the next batch of any user, and `within` more during that
    batch, which takes as much longer: both need the interpreter. Programs that got replies hold up the next batch by
    `wake` seconds each: they need the processors."""

    fixed: float
    row: float
    call: float = 0.0
    late: float = 0.0
    within: float = 0.0
    wake: float = 0.0
    seconds: float = 0.0
    rows: dict[str, int] = field(default_factory=dict[str, int])
    ran: dict[str, int] = field(default_factory=dict[str, int])
    """The rows of the latest batch."""

    def run(self, users: Sequence[str], for_seconds: float) -> dict[str, float]:
        """Rows per second of each of `users`, one of them for each context."""
        state = TickState(PageStore(pages=2, page_size=16, identity=b"test"))
        for number, user in enumerate(users):
            state.contexts[number] = LiveContext(number, 1, 1, user=user)
        sharing = DeviceSharing(state, lambda: self.seconds)
        until, self.rows = self.seconds + for_seconds, dict.fromkeys(users, 0)
        while self.seconds < until:
            passes = [Chunk(number, 1, atomic=True) for number in state.contexts]
            chosen, limits = sharing.select(passes, [], Limits(), None)
            self.compute(sharing, state, chosen, limits)
        return {user: count / for_seconds for user, count in self.rows.items()}

    def compute(self, sharing: DeviceSharing, state: TickState, chosen: Sequence[Chunk], limits: Limits) -> None:
        taken = dict.fromkeys(self.rows, 0)
        chunks = list[tuple[ForwardTask, int]]()
        for one in chosen[: limits.max_batch_contexts]:
            live = state.contexts[one.context]
            if taken[live.user] < limits.max_user_contexts:
                taken[live.user] += 1
                chunks.append((ForwardTask(live, (), (), 0, asyncio.Future(loop=LOOP)), 1))
        seconds = self.fixed + self.row * len(chunks) + self.work(state, self.within)
        self.seconds += seconds + self.work(state, self.late) + self.wake * sum(self.ran.values())
        sharing.commit(chunks, seconds, 1)
        self.ran = taken
        self.seconds += self.work(state, self.call)
        for user, count in taken.items():
            self.rows[user] += count

    def work(self, state: TickState, seconds: float) -> float:
        for user, count in self.ran.items():
            state.count_loop_time(user, seconds * count)
        return seconds * sum(self.ran.values())


LOOP = asyncio.new_event_loop()


@pytest.fixture(scope="module", autouse=True)
def loop() -> Iterator[None]:
    yield
    LOOP.close()


@pytest.mark.parametrize("others", [1, 4, 16, 63])
@pytest.mark.parametrize(("fixed", "row"), [(0.004, 0.004), (0.0, 0.004), (0.02, 0.001), (0.02, 0.00001)])
def test_a_stream_keeps_its_share_beside_however_many_of_another_user(others: int, fixed: float, row: float):  # Q8
    device = Device(fixed, row)
    alone = device.run(["ada"], 1.0)["ada"]
    assert device.run(["ada", *[HEAVY] * others], 12.0)["ada"] >= 0.45 * alone


@pytest.mark.parametrize("others", [1, 4, 16, 63])
@pytest.mark.parametrize(
    ("call", "late", "within"),
    [(0.0003, 0.0, 0.0), (0.0, 0.0003, 0.0), (0.0, 0.0, 0.0003), (0.0001, 0.0001, 0.0002), (0.0, 0.0, 0.001)],
)
def test_calls_are_paid_for_by_those_who_make_them(others: int, call: float, late: float, within: float):  # Q8
    device = Device(0.001, 0.0001, call, late, within)
    alone = device.run(["ada"], 1.0)["ada"]
    assert device.run(["ada", *[HEAVY] * others], 6.0)["ada"] >= 0.45 * alone


@pytest.mark.parametrize("others", [1, 16, 63])
def test_a_turn_does_not_pay_for_what_programs_of_the_turn_before_do_with_their_replies(others: int):  # Q8
    device = Device(0.006, 0.0003, wake=0.00015)
    alone = device.run(["ada"], 1.0)["ada"]
    assert device.run(["ada", *[HEAVY] * others], 12.0)["ada"] >= 0.45 * alone


def test_rows_that_cost_next_to_nothing_are_not_split():  # Q8
    device = Device(0.02, 0.00001)
    alone = device.run(["ada"], 1.0)["ada"]
    beside = device.run(["ada", *[HEAVY] * 63], 30.0)
    assert beside["ada"] >= 0.93 * alone
    assert beside[HEAVY] >= 0.93 * 63 * alone


def test_three_users_have_a_third_each_whatever_they_launch():  # Q8
    device = Device(0.004, 0.004)
    alone = device.run(["ada"], 1.0)["ada"]
    rates = device.run(["ada", "bob", *[HEAVY] * 40], 12.0)
    assert min(rates["ada"], rates["bob"]) >= 0.3 * alone


def test_one_user_has_every_batch_to_itself():  # Q8
    device = Device(0.001, 0.001)
    assert device.run([HEAVY] * 9, 1.0)[HEAVY] == pytest.approx(9 / 0.010, rel=0.02)


def sharing_state(*users: str) -> TickState:
    """A context of each of `users`, with a pass that would go on for long."""
    state = TickState(PageStore(pages=2, page_size=16, identity=b"test"))
    for number, user in enumerate(users):
        live = state.contexts[number] = LiveContext(number, 1, 1, user=user)
        task = state.passes[number] = ForwardTask(live, (), (), 0, asyncio.Future(loop=LOOP))
        task.continuation = PassContinuation.of(live, 1000, frozenset())
    return state


@pytest.mark.parametrize(("left_seconds", "steps"), [(0.03, 6), (0.001, 0), (-1.0, 0)])
def test_steps_are_counted_that_fit_into_the_turn(left_seconds: float, steps: int):  # Q8
    state = sharing_state("ada", HEAVY)
    state.tick_seconds = 0.005
    sharing = DeviceSharing(state, lambda: 10.0)
    assert sharing.steps_left(1) == math.inf
    state.turn = Turn("ada", 10.0 + left_seconds, 0.0)
    assert int(sharing.steps_left(1) + 0.01) == steps


def test_a_step_takes_in_a_turn_what_it_took_that_many_contexts_of_a_user():  # Q8
    state = sharing_state("ada")
    state.tick_seconds = 1.0
    sharing = DeviceSharing(state, lambda: 10.0)
    sharing.commit([(state.passes[0], 1)], 0.02, 4)
    state.turn = Turn("ada", 10.05, 0.0)
    assert sharing.steps_left(1) == pytest.approx(10)


@pytest.mark.parametrize(("left", "steps"), [(math.inf, MOST_STEPS), (5.2, 4), (1.0, 0), (0.2, 0)])
def test_no_more_steps_follow_a_batch_than_its_turn_has_time_for(left: float, steps: int):  # Q8
    state = sharing_state("ada", HEAVY)
    state.turn = Turn("ada", 0.0, 0.0)
    assert further_steps(state, [(state.passes[0], 1)], left) == steps


def test_what_others_decode_makes_no_step_of_a_turn_longer():  # Q8
    state = sharing_state("ada", HEAVY, HEAVY)
    state.batch_contexts = 16
    assert state.contexts_beside("ada") == 16
    state.turn = Turn(HEAVY, 0.0, 0.0)
    assert [state.contexts_beside(user) for user in ("ada", HEAVY, "bob")] == [1, 2, 1]


@pytest.fixture
def in_turns(monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """An engine on which users take turns for good."""
    monkeypatch.setattr(SharingMode, "measuring", lambda now: SharingMode(together=False))  # pyright: ignore[reportUnknownLambdaType]
    with running() as engine:
        yield engine


async def test_texts_in_turns_are_those_of_streams_alone_and_no_batch_has_two_users(
    in_turns: Running,
) -> None:  # Q8, Q10
    engine, prompts = in_turns, [in_turns.prompt(12, seed) for seed in range(4)]
    with contextlib.ExitStack() as stack:
        contexts: list[Context] = []
        for number, prompt in enumerate(prompts):
            stack.enter_context(engine.process("ada" if number == 3 else HEAVY))
            contexts.append(Context(engine.model).append(prompt))
        drawn = await asyncio.gather(*(engine.greedy(context, 24) for context in contexts))
    assert max(event.contexts for event in engine.events if isinstance(event, TickCompleted)) <= 3
    alone = [await engine.greedy(Context(engine.model).append(prompt), 24) for prompt in prompts]
    assert drawn == alone
