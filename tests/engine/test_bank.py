"""The books of the engine between two ticks."""

import pytest

from pie_mlx.engine.market import Holding
from pie_mlx.engine.market.bank import Bank


@pytest.fixture
def bank() -> Bank:
    bank = Bank(16, capacity_pages=10, default_endowment_pages=64, default_token_limit=None, sells_pages=True)
    for _ in range(2):
        bank.open_account(None)
    return bank


def test_a_tick_that_moved_credits_is_followed_by_one_that_ends_its_dividends(bank: Bank):  # M11
    bank.settle([Holding(1, 1, 0.0, 3)], [1], {1: 2})
    assert bank.reading(2, None).dividend == 1.0
    assert not bank.is_settled
    bank.settle([Holding(1, 1, 0.0, 3)], [1], {})
    assert bank.reading(2, None).dividend == 0.0
    assert bank.is_settled


def test_the_latency_of_a_context_is_smoothed(bank: Bank):  # M14
    for seconds in (1.0, 2.0):
        bank.sample_latency(7, seconds)
    assert bank.reading(1, 7).latency_seconds == pytest.approx(1.1)
