"""What moving pages costs, in ranks and rights."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.policies import Limits, Plan, ReasonKind, View, longest_wait_ticks, policy
from pie_mlx.engine.policies.simulation import AutoBidder, Device, Program, Setup, Simulator, Turn
from pie_mlx.engine.policies.turnover import LONGEST_STRETCH, due_window_ticks, patience_ticks, residency_rows
from pie_mlx.engine.policies.view import ContextView, RequestView

COSTLY = Limits(turnover_ticks=30.0)
LEASE = 8 * 30


def duel(
    bid: float, challenger_bid: float, limits: Limits, *, stay: int = 1, waited: int = 0, idle: int | None = None
) -> Plan:
    resident = ContextView(
        1, 1, bid=bid, pages=8.0, private_pages=8, has_work=idle is None, idle_ticks=idle or 0, stay_rows=stay
    )
    challenger = ContextView(2, 2, resident=False, bid=challenger_bid, waiting_ticks=waited)
    requests = (RequestView(2, 8),)
    return policy("market").plan(View(0, 8, 0, (resident, challenger), requests=requests, limits=limits))


def test_free_moves_need_no_more_than_a_higher_bid():
    assert duel(1.0, 1.1, Limits()).suspensions
    assert due_window_ticks(Limits()) == 64
    assert residency_rows(Limits()) == 0


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.integers(0, LEASE))
def test_no_bid_takes_pages_before_the_stay_has_paid_for_the_move(bid: float, challenger_bid: float, stay: int):
    assert not duel(bid, challenger_bid, COSTLY, stay=stay).suspensions


def test_later_a_bid_that_is_higher_by_the_rest_of_the_cost_does():
    assert not duel(1.0, 1.05, COSTLY, stay=2 * LEASE).suspensions
    assert duel(1.0, 1.5, COSTLY, stay=2 * LEASE).suspensions


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.integers(1, 10**5), st.integers(1, 10**5))
def test_two_bidders_never_have_the_right_to_each_others_pages(first: float, second: float, stay: int, other: int):
    assert not (
        duel(first, second, COSTLY, stay=stay).suspensions and duel(second, first, COSTLY, stay=other).suspensions
    )


def test_a_due_context_takes_the_pages_of_who_had_its_residency():
    waited = math.ceil(due_window_ticks(COSTLY))
    rows = math.ceil(residency_rows(COSTLY))
    assert not duel(1.0, 0.0, COSTLY, stay=rows - 1, waited=waited).suspensions
    assert duel(1.0, 0.0, COSTLY, stay=rows, waited=waited).suspensions
    assert not duel(1.0, 0.0, COSTLY, stay=rows, waited=waited - 1).suspensions


def test_the_longer_a_newcomer_waits_the_shorter_is_the_stay_that_it_respects():
    slow = Limits(turnover_ticks=4.0, turnover_seconds=0.33)
    patience = math.ceil(patience_ticks(slow))
    assert due_window_ticks(slow) < patience
    assert residency_rows(slow, 100) == pytest.approx(patience - 100)
    assert residency_rows(slow, patience) == residency_rows(slow) == 8
    assert not duel(1.0, 0.0, slow, stay=patience - 101, waited=100).suspensions
    assert duel(1.0, 0.0, slow, stay=patience - 100, waited=100).suspensions


def test_turnovers_that_take_twice_as_long_are_four_times_as_rare():
    once, twice = Limits(turnover_seconds=0.2), Limits(turnover_seconds=0.4)
    assert patience_ticks(twice) == pytest.approx(4 * patience_ticks(once))


def test_of_two_that_are_due_the_one_that_waited_longer_comes_first_whatever_they_bid():
    resident = ContextView(1, 1, bid=1.0, pages=8.0, private_pages=8, stay_rows=10**4)
    rich = ContextView(2, 2, resident=False, bid=9.0, waiting_ticks=600)
    poor = ContextView(3, 3, resident=False, bid=0.0, waiting_ticks=601)
    requests = (RequestView(2, 8), RequestView(3, 8))
    plan = policy("market").plan(View(0, 8, 0, (resident, rich, poor), requests=requests, limits=COSTLY))
    assert plan.restores == (3,)


def test_no_newcomer_passes_one_that_waits_for_the_last_residency_to_end():
    early = ContextView(1, 1, bid=1.0, pages=8.0, private_pages=8, stay_rows=1)
    overdue = ContextView(2, 2, resident=False, waiting_ticks=600)
    small = ContextView(3, 3, resident=False, bid=9.0)
    limits = Limits(turnover_ticks=30.0, turnover_seconds=0.1)
    requests = (RequestView(2, 10), RequestView(3, 1))
    plan = policy("market").plan(View(0, 12, 4, (early, overdue, small), requests=requests, limits=limits))
    assert not plan.moves_pages
    assert plan.waits[1].reason.text() == "waiting: yields to a context that waited 600 ticks"


def test_small_contexts_stay_where_a_large_one_makes_the_room_alone():
    small = ContextView(1, 1, bid=0.1, pages=2.0, private_pages=2)
    large = ContextView(2, 2, bid=0.2, pages=8.0, private_pages=8)
    newcomer = ContextView(3, 3, resident=False, bid=1.0)
    plan = policy("market").plan(View(0, 10, 0, (small, large, newcomer), requests=(RequestView(3, 8),)))
    assert [suspension.context for suspension in plan.suspensions] == [2]


def test_an_idle_holder_keeps_its_pages_for_as_long_as_bringing_them_back_takes():
    assert not duel(5.0, 1.0, COSTLY, idle=30).suspensions
    assert duel(5.0, 1.0, COSTLY, idle=31).suspensions


@given(st.floats(0, 1e9), st.floats(0, 1e9))
def test_window_and_residency_end_whatever_is_measured(turnover_ticks: float, turnover_seconds: float):
    limits = Limits(turnover_ticks=turnover_ticks, turnover_seconds=turnover_seconds)
    assert 64 <= due_window_ticks(limits) <= 64 * LONGEST_STRETCH
    assert 0 <= residency_rows(limits) <= 128
    assert longest_wait_ticks(limits, 10, 1000) <= 64 * 16 + 10 * (2 + 128 + 2)


def test_a_wait_names_what_the_move_would_cost_and_what_is_offered():
    reason = duel(0.5, 0.9, COSTLY, stay=LEASE).waits[0].reason
    assert reason.kind is ReasonKind.STAYS
    assert reason.text() == "waiting: the resident stays: moving it would cost 7.2 cr, this one offers 3.2 more"


def test_a_newcomer_leaves_room_for_those_who_work_to_grow():
    resident = ContextView(1, 1, bid=1.0, pages=4.0, private_pages=4, growth_pages=3)
    newcomer = ContextView(2, 2, resident=False, bid=1.0, growth_pages=2)
    view = View(0, 12, 8, (resident, newcomer), requests=(RequestView(2, 4),), limits=COSTLY)
    wait = policy("market").plan(view).waits[0]
    assert wait.reason.kind is ReasonKind.HEADROOM
    assert (
        policy("market")
        .plan(View(0, 12, 9, (resident, newcomer), requests=(RequestView(2, 4),), limits=COSTLY))
        .restores
    )


@pytest.mark.parametrize("name", ["fcfs", "priority"])
def test_age_and_priority_wait_for_nobody_to_grow(name: str):
    resident = ContextView(2, 2, bid=1.0, pages=4.0, private_pages=4, growth_pages=9)
    first = ContextView(1, 1, resident=False, bid=2.0)
    view = View(0, 12, 8, (resident, first), requests=(RequestView(1, 8),), limits=COSTLY)
    assert policy(name).plan(view).restores == (1,)


@pytest.mark.parametrize("name", ["market", "fcfs", "priority"])
def test_nobody_goes_for_a_newcomer_before_its_residency(name: str):
    device = Device(seconds_per_page_written=0.001, seconds_per_page_read=0.001)
    programs = [Program("any", 0.0, 64, (Turn(600, 400, 400),)) for _ in range(6)]
    simulator = Simulator(programs, Setup(160, device=device), policy(name), AutoBidder(16))
    outcome = simulator.run()
    assert outcome.moving_seconds < 0.15 * outcome.seconds
    assert sum(item.generated_tokens for item in outcome.accounts.values()) == 6 * 400
