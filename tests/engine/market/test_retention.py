"""Hints as bids."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.market import Retention, expected_back, prepaid_cost, retained
from pie_mlx.engine.market.retention import LONGEST_SECONDS
from pie_mlx.errors import InvalidArgumentError

TICK = 0.02
SECONDS = st.floats(0.0, 2 * LONGEST_SECONDS)


def bid(retention: Retention, now: float) -> float:
    return retention.bid(now, TICK, 1.0)


def test_rent_at_the_bid_comes_to_what_the_pages_are_worth_until_the_return() -> None:
    found = retained(None, 3.0, 60.0, now=100.0)
    assert bid(found, 100.0) * 60.0 / TICK == pytest.approx(3.0)


def test_who_is_back_sooner_bids_more() -> None:
    soon, late = (expected_back(None, seconds, now=0.0) for seconds in (2.0, 20.0))
    assert bid(soon, 0.0) == pytest.approx(10 * bid(late, 0.0))
    assert bid(late, 15.0) > bid(late, 5.0) > bid(late, 0.0)


def test_who_is_overdue_bids_less_and_less() -> None:
    found = expected_back(None, 8.0, now=0.0)
    assert bid(found, 8.0) > bid(found, 14.0) > bid(found, 30.0) > 0.0


@given(priority=st.floats(0, 1000), ttl=SECONDS, back=SECONDS, later=SECONDS)
def test_nothing_is_bid_once_the_time_to_live_is_over(priority: float, ttl: float, back: float, later: float) -> None:
    found = expected_back(retained(None, priority, ttl, now=0.0), back, now=0.0)
    assert found.until_seconds <= LONGEST_SECONDS
    assert bid(found, found.until_seconds + later) == 0.0
    most = priority if ttl else 1.0  # what was over before it began says nothing of the return
    assert 0.0 <= bid(found, later) <= most


def test_an_expected_return_stays_known_when_the_retention_is_renewed() -> None:
    found = retained(expected_back(None, 8.0, now=0.0), 2.0, 60.0, now=1.0)
    assert (found.priority, found.back_seconds, found.until_seconds) == (2.0, 8.0, 61.0)
    assert found.text(3.0) == "retained at priority 2 for 58 s more, expected back in 5 s"


def test_no_time_to_live_ends_it() -> None:
    assert not retained(expected_back(None, 8.0, now=0.0), 1.0, 0.0, now=1.0).holds(1.0)


@pytest.mark.parametrize("value", [-1.0, math.inf, math.nan])
def test_numbers_that_mean_nothing_are_refused(value: float) -> None:
    with pytest.raises(InvalidArgumentError):
        retained(None, value, 1.0, now=0.0)
    with pytest.raises(InvalidArgumentError):
        retained(None, 1.0, value, now=0.0)
    with pytest.raises(InvalidArgumentError):
        expected_back(None, value, now=0.0)


def test_paid_ahead_a_page_costs_its_make_cost_for_each_five_minutes() -> None:
    assert prepaid_cost(20, 2.0, 150.0, 1.0) == pytest.approx(20.0)


def test_a_low_priority_does_not_make_what_is_paid_ahead_cheap() -> None:
    assert prepaid_cost(20, 0.001, 300.0, 1.0) == prepaid_cost(20, 1.0, 300.0, 1.0) == 20.0
    assert prepaid_cost(20, 0.0, 300.0, 1.0) == 0.0
