"""The books of the engine between two ticks."""

import pytest

from pie_mlx.engine.market import Holding
from pie_mlx.engine.market.accounting import Accounting


@pytest.fixture
def accounting() -> Accounting:
    accounting = Accounting(
        16, capacity_pages=10, default_endowment_pages=64, default_token_limit=None, sells_pages=True
    )
    for _ in range(2):
        accounting.open_account(None)
    return accounting


def test_a_tick_that_moved_credits_is_followed_by_one_that_ends_its_dividends(accounting: Accounting):  # M11
    accounting.settle([Holding(1, 1, 0.0, 3)], [1], {1: 2})
    assert accounting.reading(2, None).dividend == 1.0
    assert not accounting.is_settled
    accounting.settle([Holding(1, 1, 0.0, 3)], [1], {})
    assert accounting.reading(2, None).dividend == 0.0
    assert accounting.is_settled


def test_the_latency_of_a_context_is_smoothed(accounting: Accounting):  # M14
    for seconds in (1.0, 2.0):
        accounting.sample_latency(7, seconds)
    assert accounting.reading(1, 7).latency_seconds == pytest.approx(1.1)
