"""A contended run of the engine, recorded, and planned again."""

import asyncio
from pathlib import Path

import pytest

from inferlet import Context
from pie_mlx.engine.market import imbalance_credits
from pie_mlx.engine.policies import POLICIES, policy
from pie_mlx.engine.policies.simulation import (
    Await,
    Branch,
    Mark,
    Outcome,
    Pause,
    Program,
    RecordedBidder,
    Recording,
    Setup,
    Simulator,
    Truncate,
    Turn,
    programs_of,
    replay,
)
from pie_mlx.errors import InvalidArgumentError, OutOfPagesError
from pie_mlx.event_log import EventWriter, read_events
from pie_mlx.events import (
    AccountJoined,
    BidDeclared,
    ContextCreated,
    ContextForked,
    ContextReleased,
    ContextSuspended,
    EngineStarted,
    Event,
    PageUsage,
    PassCompleted,
    TickCompleted,
)
from tests.engine.running import Running, running

POOL_PAGES = 12
PROGRAMS = 6


async def write(engine: Running, seed: int, everybody_holds_pages: asyncio.Event) -> None:
    """A program of two replies and two branches; odd ones declare a bid for their prompt."""
    with engine.process(token_budget=400), Context(engine.model) as context:
        if seed % 2:
            context.set_bid(float(seed))
        context.append(engine.prompt(40, seed))
        await context.flush()
        if len({event.context for event in engine.events if isinstance(event, PassCompleted)}) == PROGRAMS:
            everybody_holds_pages.set()
        await everybody_holds_pages.wait()
        context.append([60])
        await engine.greedy(context, 8)
        children = [context.fork() for _ in range(2)]
        for number, child in enumerate(children):
            child.append([50 + number])
        await asyncio.gather(*(engine.greedy(child, 4) for child in children))
        for child in children:
            child.release()
        context.append(engine.prompt(20, seed + 50))
        await engine.greedy(context, 4)


@pytest.fixture(scope="module")
def events() -> list[Event]:
    with running(dummy=True, total_pages=POOL_PAGES) as engine:

        async def everybody() -> None:
            everybody_holds_pages = asyncio.Event()
            await asyncio.gather(*(write(engine, seed, everybody_holds_pages) for seed in range(PROGRAMS)))

        asyncio.run(everybody())
    assert any(isinstance(event, ContextSuspended) for event in engine.events)
    return engine.events


def computed_tokens(events: list[Event]) -> int:
    return sum(event.computed_tokens for event in events if isinstance(event, PassCompleted))


def passes(events: list[Event]) -> int:
    computed = [event for event in events if isinstance(event, PassCompleted) and event.computed_tokens]
    return sum(1 + event.following for event in computed)


@pytest.mark.parametrize("name", POLICIES)
def test_every_program_finishes_with_the_same_tokens_under_every_policy(events: list[Event], name: str) -> None:
    outcome = replay(events, policy=name, capacity_pages=POOL_PAGES)
    assert len(outcome.accounts) == PROGRAMS
    assert all(account.finished_seconds is not None for account in outcome.accounts.values())
    assert outcome.useful_tokens == computed_tokens(events)
    assert len(outcome.turns) == passes(events)


@pytest.mark.parametrize("name", POLICIES)
def test_the_books_balance_in_every_step_and_no_page_is_left(events: list[Event], name: str) -> None:  # M13
    recording = programs_of(events)
    setup = Setup(POOL_PAGES, recording.page_size, device=recording.device)
    simulator = Simulator(recording.programs, setup, policy(name), RecordedBidder(recording.page_size, {}))
    while simulator.step():
        assert imbalance_credits(simulator.ledger) == pytest.approx(0.0, abs=1e-6)
        assert 0 <= simulator.pool.used_pages <= POOL_PAGES
    assert simulator.pool.used_pages == 0
    assert simulator.ledger.accounts == {}


def test_a_replay_is_deterministic(events: list[Event]) -> None:
    assert replay(events, policy="market") == replay(events, policy="market")


def test_the_recorded_pool_is_the_default_and_a_larger_one_suspends_nobody(events: list[Event]) -> None:
    assert replay(events, policy="market") == replay(events, policy="market", capacity_pages=POOL_PAGES)
    assert replay(events, policy="market", capacity_pages=1000).suspensions == 0


def test_a_log_on_disk_replays_like_the_run(events: list[Event], tmp_path: Path) -> None:
    with EventWriter(tmp_path / "run.events") as log:
        for event in events:
            log.write(event)
    read = read_events(tmp_path / "run.events").events
    assert list(read) == events
    assert replay(read, policy="market") == replay(events, policy="market")


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_the_beginning_of_a_log_replays_too(events: list[Event], part: float) -> None:
    begun = events[: int(len(events) * part)]
    outcome = replay(begun, policy="fcfs", capacity_pages=POOL_PAGES)
    assert outcome.useful_tokens == computed_tokens(begun)
    assert all(account.finished_seconds is not None for account in outcome.accounts.values())


def test_the_log_tells_endowments_bids_and_forks(events: list[Event]) -> None:
    recording = programs_of(events)
    assert (recording.page_size, recording.capacity_pages, recording.policy) == (16, POOL_PAGES, "market")
    assert {program.endowment for program in recording.programs} == {25.0}
    assert sorted(program.value for program in recording.programs) == [1.0, 1.0, 1.0, 1.0, 3.0, 5.0]
    assert all(len(program.scripts) == 3 for program in recording.programs)
    first = recording.programs[0]
    assert [action.script for action in first.actions if isinstance(action, Branch)] == [1, 2]
    turns = [action for action in first.actions if isinstance(action, Turn)]
    assert (turns[0].bid is None) == (first.value == 1.0)


def test_a_pool_that_a_context_does_not_fit_is_refused(events: list[Event]) -> None:
    with pytest.raises(OutOfPagesError, match="a pool of 4 pages"):
        replay(events, policy="market", capacity_pages=4)


@pytest.mark.parametrize(("bids", "message"), [({999: 1.0}, "account 999 ran nothing"), ({2: float("nan")}, "finite")])
def test_bids_that_mean_nothing_are_refused(events: list[Event], bids: dict[int, float], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        replay(events, policy="market", bids=bids)


def test_a_log_without_its_beginning_is_refused(events: list[Event]) -> None:
    with pytest.raises(InvalidArgumentError, match="event log"):
        programs_of(events[len(events) // 2 :])


# What is read from which events.

USAGE = PageUsage(100, 0, 0, 0)


def recorded(*events: Event) -> Recording:
    return programs_of((EngineStarted("m", "fcfs", 100, 4), AccountJoined(1, 64.0, None, 100.0), *events))


def only(recording: Recording) -> Program:
    (program,) = recording.programs
    return program


def ran(context: int, held: int, computed: int, requested: float, completed: float, **more: float) -> PassCompleted:
    return PassCompleted(
        "p",
        context,
        int(more.get("attached", 0)),
        computed,
        1,
        held,
        requested,
        completed,
        bid=more.get("bid", 0.0),
        remaining_tokens=more.get("remaining", 8.0),
    )


def tick(tokens: int, seconds: float) -> TickCompleted:
    return TickCompleted(1, 1, tokens, 0, seconds)


def test_time_before_a_pass_is_a_pause_idle_when_the_bid_was_0_in_it() -> None:  # B8
    program = only(
        recorded(
            ContextCreated("p", 1, account=1),
            ran(1, 0, 5, 102.0, 103.0),
            BidDeclared(1, 0.0),
            BidDeclared(1, 2.0),
            ran(1, 5, 1, 107.0, 108.0, bid=2.0, remaining=0.0),
            ran(1, 6, 1, 108.001, 109.0, attached=3),
            ContextReleased("p", 1, 110.0),
        )
    )
    assert program.actions == (
        Pause(2.0),
        Turn(5, 1, 8.0),
        Pause(4.0, idle=True),
        Turn(1, 1, 0.0, bid=2.0),
        Turn(1, 1, 8.0, attached_tokens=3),
        Mark(1),
        Pause(1.0),
    )


def test_tokens_taken_back_and_tokens_of_a_snapshot_are_seen_by_what_the_next_pass_held() -> None:
    program = only(
        recorded(
            ContextCreated("p", 1, shared_pages=2, account=1),
            ran(1, 9, 5, 100.0, 101.0),
            ran(1, 11, 2, 101.0, 102.0),
        )
    )
    assert program.actions == (Turn(5, 1, 8.0, attached_tokens=9), Truncate(3), Turn(2, 1, 8.0), Mark(1))


def test_a_join_waits_for_the_branches_that_ended_since_and_not_for_the_time_they_took() -> None:
    program = only(
        recorded(
            ContextCreated("p", 1, account=1),
            ran(1, 0, 5, 100.0, 101.0),
            ContextForked("p", 2, 1, 1, 1, 101.0),
            tick(1, 1.0),
            ran(2, 5, 1, 101.0, 105.0),
            ran(1, 5, 1, 105.5, 106.0),
        )
    )
    assert program.actions == (Turn(5, 1, 8.0), Branch(1), Await((2,)), Pause(0.5), Turn(1, 1, 8.0), Mark(1))
    assert program.scripts == ((), (Turn(1, 1, 8.0), Mark(2)))


def test_contexts_beside_each_other_do_not_wait_for_each_others_steps() -> None:
    program = only(
        recorded(
            ContextCreated("p", 1, account=1),
            ContextCreated("p", 2, account=1),
            tick(2, 1.0),
            ran(1, 0, 1, 100.0, 101.0),
            ran(2, 0, 1, 100.0, 101.0),
            tick(2, 1.0),
            ran(1, 1, 1, 101.0, 102.0),
            ran(2, 1, 1, 101.0, 102.0),
        )
    )
    assert program.actions == (Branch(1, forks=False), Turn(1, 1, 8.0), Turn(1, 1, 8.0), Mark(1))
    assert program.scripts[1] == (Turn(1, 1, 8.0), Turn(1, 1, 8.0), Mark(2))


def test_contexts_one_after_another_stay_so() -> None:
    program = only(
        recorded(
            ContextCreated("p", 1, account=1),
            tick(1, 1.0),
            ran(1, 0, 1, 100.0, 101.0),
            ContextCreated("p", 2, account=1),
            ran(2, 0, 1, 101.0, 102.0),
        )
    )
    assert program.scripts[1] == (Await((1,)), Turn(1, 1, 8.0), Mark(2))


def test_batches_take_as_long_as_a_line_through_the_recorded_ones() -> None:
    device = recorded(tick(10, 1.0), tick(30, 2.0)).device
    assert device.batch_seconds(20) == pytest.approx(1.5)
    assert device.seconds_per_token == pytest.approx(0.05)


# What if.


def crowd() -> tuple[Event, ...]:
    """Four equal programs at once in a pool that holds two: a prompt of 15 pages and 8 single tokens, bid 0.1."""
    joined = [AccountJoined(number, 64.0, None, 100.0) for number in range(1, 5)]
    created = [ContextCreated("p", number, account=number) for number in range(1, 5)]
    steps = [ran(number, 0, 60, 100.0, 101.0, bid=0.1, remaining=0.0) for number in range(1, 5)]
    for step in range(8):
        at = 101.0 + step
        steps += [ran(number, 60 + step, 1, at, at + 1, bid=0.1, remaining=0.0) for number in range(1, 5)]
    return (EngineStarted("m", "fcfs", 40, 4), *joined, *created, tick(60, 1.0), *steps)


def finishing_seconds(outcome: Outcome) -> dict[int, float]:
    return {number: account.finished_seconds or 0.0 for number, account in outcome.accounts.items()}


@pytest.mark.parametrize("name", ["market", "priority"])
@pytest.mark.parametrize("favourite", [1, 2, 3, 4])
def test_who_would_have_bid_more_would_have_been_first(name: str, favourite: int) -> None:
    finished = finishing_seconds(replay(crowd(), policy=name, bids={favourite: 1.0}))
    assert finished[favourite] == min(finished.values()) < max(finished.values())


def test_first_come_first_served_asks_nobody_what_they_would_have_bid() -> None:
    assert replay(crowd(), policy="fcfs", bids={4: 1.0}) == replay(crowd(), policy="fcfs")


def test_a_pool_that_holds_everybody_would_have_let_nobody_wait() -> None:
    small, large = replay(crowd(), policy="market"), replay(crowd(), policy="market", capacity_pages=72)
    assert large.longest_wait_ticks < small.longest_wait_ticks
    assert large.suspensions == 0
    assert large.useful_tokens == small.useful_tokens == 4 * 68
