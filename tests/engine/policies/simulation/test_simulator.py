import math

import pytest

from pie_mlx.engine.market import Account, Horizon, auto_bid
from pie_mlx.engine.policies import POLICIES, Limits, policy
from pie_mlx.engine.policies.simulation import (
    AutoBidder,
    Device,
    Outcome,
    Pause,
    Program,
    Search,
    Setup,
    Simulator,
    Turn,
    ValueBidder,
)

RECOMPUTE = Device(seconds_per_batch=1.0, seconds_per_token=0.0, seconds_per_page_read=math.inf)
READ_BACK = Device(seconds_per_batch=1.0, seconds_per_token=0.01, seconds_per_page_read=0.001)


def run(programs: list[Program], pages: int, name: str = "market", device: Device = RECOMPUTE) -> Outcome:
    setup = Setup(pages, page_size=4, device=device)
    return Simulator(programs, setup, policy(name), ValueBidder()).run()


def talk(arrival_seconds: float, *actions: Turn | Pause | Search, value: float = 1.0) -> Program:
    return Program("talk", arrival_seconds, 64, actions, value)


@pytest.mark.parametrize("name", POLICIES)
def test_without_contention_every_policy_does_the_same(name: str):  # Q8
    programs = [talk(n * 0.5, Turn(10, 5, 8), Pause(3.0), Turn(4, 5, 8), value=n) for n in range(4)]
    assert run(programs, 100, name) == run(programs, 100, "fcfs")


def test_time_is_the_devices_and_a_turn_ends_with_its_last_token():
    outcome = run([talk(2.0, Turn(10, 5, 8))], 100)
    (turn,) = outcome.turns
    assert (turn.started_seconds, turn.finished_seconds, turn.tokens) == (2.0, 7.0, 5)
    assert outcome.useful_tokens == 14


def test_who_says_that_it_is_back_soon_keeps_its_pages_before_who_is_back_later():  # B10
    soon = talk(0.0, Turn(39, 1, 8), Pause(30.0, idle=True, expected_seconds=30.0), Turn(3, 1, 8))
    late = talk(0.0, Turn(39, 1, 8), Pause(300.0, idle=True, expected_seconds=300.0), Turn(3, 1, 8))
    worker = talk(10.0, Turn(39, 1, 8), value=0.5)
    outcome = run([soon, late, worker], 24)
    kept, gone = (turn.finished_seconds - turn.started_seconds for turn in outcome.turns[-2:])
    assert kept < gone
    assert outcome.replayed_tokens == 24  # six pages of the other one


def test_branches_of_a_search_run_at_the_same_time():
    outcome = run([talk(0.0, Turn(8, 1, 8), Search(4, Turn(1, 3, 8)), Turn(1, 1, 8))], 100)
    assert outcome.ticks == 1 + 3 + 1
    assert len(outcome.turns) == 6


def test_lost_content_is_computed_again():  # R4
    programs = [talk(0.0, Turn(24, 1, 8), Pause(10.0), Turn(1, 1, 8)), talk(2.0, Turn(36, 4, 8), value=2.0)]
    outcome = run(programs, 12)
    assert outcome.suspensions == 1
    assert outcome.replayed_tokens == 4 * outcome.wasted_pages > 0


def test_lost_content_is_read_back_where_that_is_faster():  # R3
    programs = [talk(0.0, Turn(24, 1, 8), Pause(10.0), Turn(1, 1, 8)), talk(2.0, Turn(36, 4, 8), value=2.0)]
    outcome = run(programs, 12, device=READ_BACK)
    assert outcome.wasted_pages > 0
    assert outcome.replayed_tokens == 0


def test_the_books_are_closed_when_everybody_left():  # M12, T29
    programs = [talk(n * 0.7, Turn(20, 9, 16), value=n) for n in range(6)]
    simulator = Simulator(programs, Setup(12, page_size=4, device=RECOMPUTE), policy("market"), AutoBidder(4))
    simulator.run()
    assert simulator.ledger.accounts == {}
    assert simulator.pool.used_pages == 0


def test_a_run_can_be_cut_at_a_time():
    outcome = run([talk(0.0, Turn(10, 1000, 2000))], 300)
    assert (
        Simulator([talk(0.0, Turn(10, 1000, 2000))], Setup(300), policy("fcfs"), ValueBidder()).run(0.5).seconds < 0.6
    )
    assert outcome.seconds == 1000.0


@pytest.mark.parametrize(("name", "first_reply_tokens"), [("market", 4), ("fcfs", 40), ("priority", 4)])
def test_a_valuable_program_passes_one_that_came_before_unless_first_come_is_served(name: str, first_reply_tokens: int):
    programs = [talk(0.0, Turn(16, 40, 64)), talk(20.0, Turn(24, 4, 8), value=10.0)]
    assert run(programs, 14, name).turns[0].tokens == first_reply_tokens


def test_the_automatic_bidder_bids_what_the_engine_would():  # B4, B5, B6
    account, turn = Account(1, 64, 50.0, dividend=0.2), Turn(10, 30, 100)
    bid = AutoBidder(16).bid(talk(0.0), account, turn, 20, 4, 10)
    assert bid == auto_bid(20.0, 0.08, 4, Horizon(80.0, 1.0), 16)


def test_an_idle_pause_bids_nothing():  # B8
    simulator = Simulator(
        [talk(0.0, Turn(4, 1, 8), Pause(idle=True))], Setup(10, page_size=4), policy("market"), ValueBidder(), Limits()
    )
    simulator.run()
    (thread,) = simulator.threads.values()
    assert thread.bid == 0.0
