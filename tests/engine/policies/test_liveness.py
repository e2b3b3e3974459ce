"""Q7: whatever the bids, every program whose need fits the pool finishes, within the stated bound."""

import math
import random
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pie_mlx.engine.market import Account, imbalance_credits
from pie_mlx.engine.policies import POLICIES, Limits, Plan, Policy, View, longest_wait_ticks, policy
from pie_mlx.engine.policies.simulation import Action, Device, Outcome, Pause, Program, Search, Setup, Simulator, Turn
from pie_mlx.engine.policies.turnover import residency_rows

PAGE_SIZE = 4
BIDS: dict[str, tuple[float, ...]] = {
    "all zero": (0.0,),
    "all equal": (1.0,),
    "changing in every tick": (0.0, 0.0, 0.5, 1.0, 5.0, 1e6),
}


@dataclass
class Bids:
    """Draws each bid from a fixed list; a program of some value bids that instead."""

    values: tuple[float, ...]
    source: random.Random

    def bid(
        self, program: Program, account: Account, turn: Turn, generated: int, pages: int, account_pages: int
    ) -> float:
        return program.value or self.source.choice(self.values)


@st.composite
def scripts(draw: st.DrawFn, capacity_pages: int) -> tuple[Action, ...]:
    """Turns, pauses and searches whose tokens fit the pool."""
    left = capacity_pages * PAGE_SIZE
    actions: list[Action] = []
    for _ in range(draw(st.integers(1, 3))):
        if left < 6:
            break
        prompt, reply = draw(st.integers(1, left // 2)), draw(st.integers(1, min(left // 3, 10)))
        left -= prompt + reply
        actions.append(Turn(prompt, reply, 16))
        if draw(st.booleans()):
            seconds, said = draw(st.sampled_from([0.0, 0.1])), draw(st.sampled_from([None, 0.0, 0.1, 1e6]))
            actions.append(Pause(seconds, idle=draw(st.booleans()), expected_seconds=said))
        if left >= 4 and draw(st.integers(0, 3)) == 0:
            actions.append(Search(draw(st.integers(1, 4)), Turn(1, 3, 8)))
    return tuple(actions)


@st.composite
def crowds(draw: st.DrawFn, capacity_pages: int) -> list[Program]:
    count = draw(st.integers(1, 8))
    arrivals = st.sampled_from([0.0, 0.05, 0.3])
    return [Program("any", draw(arrivals), 64, draw(scripts(capacity_pages)), value=0.0) for _ in range(count)]


LIMITS = st.builds(
    Limits,
    st.sampled_from([4, 16, 64]),
    st.sampled_from([1, 2, 8]),
    st.sampled_from([2, 8, 32]),
    st.sampled_from([2, 16]),
)
DEVICES = st.sampled_from(
    [
        Device(seconds_per_page_read=math.inf),
        Device(seconds_per_token=0.02, seconds_per_page_read=math.inf),
        Device(seconds_per_page_read=0.0, seconds_per_page_written=0.0),
    ]
)


def run(simulator: Simulator, bids: Bids) -> tuple[Outcome, Limits]:
    """Runs to the end, with other bids in every tick; and the limits with the longest turnover that was measured."""
    longest = simulator.measured_limits
    while simulator.step():
        longest = max(longest, simulator.measured_limits, key=lambda limits: limits.turnover_ticks)
        for thread in simulator.threads.values():
            thread.bid = thread.program.value or bids.source.choice(bids.values)
    return simulator.outcome, longest


@dataclass
class Watched:
    """The market; looks at whom it suspends for newcomers, and after how long a stay."""

    inner: Policy
    name: str = "market"
    sells_pages: bool = True

    def plan(self, view: View) -> Plan:
        plan, contexts = self.inner.plan(view), {context.context: context for context in view.contexts}
        for suspension in plan.suspensions:
            victim, other = contexts[suspension.context], contexts[suspension.for_context]
            if victim is not other and victim.has_work and not other.resident and not view.stalled:
                assert victim.stay_rows >= residency_rows(view.limits)
        return plan


@given(st.data(), LIMITS, st.sampled_from([0.0005, 0.002, 0.02]), st.integers(0, 99))
def test_no_two_contexts_take_turns_faster_than_the_residency_whatever_they_bid(
    data: st.DataObject, limits: Limits, seconds_per_token: float, seed: int
):  # Q3, Q7, M13
    capacity, source = data.draw(st.sampled_from([8, 24])), random.Random(seed)
    device = Device(seconds_per_token=seconds_per_token, seconds_per_page_read=math.inf)
    setup, bidder = Setup(capacity, PAGE_SIZE, device=device), Bids(BIDS["changing in every tick"], source)
    simulator = Simulator(data.draw(crowds(capacity)), setup, Watched(policy("market")), bidder, limits)
    while simulator.step():
        assert abs(imbalance_credits(simulator.ledger)) < 1e-6
        for thread in simulator.threads.values():
            thread.bid = source.choice(bidder.values)
    assert all(account.finished_seconds is not None for account in simulator.outcome.accounts.values())


def branches(program: Program) -> int:
    return max(action.branches if isinstance(action, Search) else 1 for action in program.actions)


@given(st.data(), st.sampled_from(POLICIES), st.sampled_from(sorted(BIDS)), LIMITS, DEVICES, st.integers(0, 99))
def test_every_program_finishes_and_no_wait_exceeds_the_bound(
    data: st.DataObject, name: str, bids: str, limits: Limits, device: Device, seed: int
):  # Q7, Q8
    capacity = data.draw(st.sampled_from([4, 8, 24]))
    programs = data.draw(crowds(capacity))
    setup, bidder = Setup(capacity, PAGE_SIZE, device=device), Bids(BIDS[bids], random.Random(seed))
    outcome, measured = run(Simulator(programs, setup, policy(name), bidder, limits), bidder)
    contexts = sum(map(branches, programs))
    assert all(account.finished_seconds is not None for account in outcome.accounts.values())
    assert outcome.longest_wait_ticks <= longest_wait_ticks(measured, contexts, capacity * PAGE_SIZE)


@settings(max_examples=20)
@given(
    st.data(),
    st.sampled_from(POLICIES),
    st.sampled_from([0.0, 1e-9, 1e9]),
    LIMITS,
    DEVICES,
    st.sampled_from([None, 0.0, 1e6]),
)
def test_an_idle_holder_of_most_of_the_pool_stops_nobody(
    data: st.DataObject, name: str, holder_bid: float, limits: Limits, device: Device, said: float | None
):  # Q7, B10
    capacity = 16
    pause = Pause(expected_seconds=said)
    holder = Program("holder", 0.0, 64, (Turn(14 * PAGE_SIZE - 1, 1, 1), pause), value=holder_bid)
    programs = [holder, *data.draw(crowds(capacity))]
    setup, bidder = Setup(capacity, PAGE_SIZE, device=device), Bids((0.0, 1.0), random.Random(1))
    outcome, _ = run(Simulator(programs, setup, policy(name), bidder, limits), bidder)
    others = [account for account in outcome.accounts.values() if account.kind != "holder"]
    assert all(account.finished_seconds is not None for account in others)


@pytest.mark.parametrize("name", POLICIES)
def test_forty_programs_on_a_pool_that_holds_eight_all_finish(name: str):  # Q7
    programs = [Program("any", 0.0, 64, (Turn(40, 20, 32), Pause(0.2), Turn(10, 10, 32)), value=0.0) for _ in range(40)]
    setup = Setup(8 * 20, PAGE_SIZE)
    outcome = Simulator(programs, setup, policy(name), Bids((0.1, 0.2, 3.0), random.Random(2))).run()
    assert all(account.finished_seconds is not None for account in outcome.accounts.values())
    assert outcome.longest_wait_ticks <= longest_wait_ticks(Limits(), 40, 80)


def test_the_bound_is_the_window_and_one_turn_of_everybody():  # Q7, Q8
    limits = Limits(max_batch_tokens=2048, prefill_chunk_tokens=512, aging_window_ticks=64)
    assert longest_wait_ticks(limits, working_contexts=10, longest_context_tokens=1000) == 64 + 10 * (2 + 2)
