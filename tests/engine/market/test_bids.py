import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.market import (
    Horizon,
    auto_bid,
    declared_bid,
    declared_horizon,
    effective_bid,
    share,
)
from pie_mlx.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("balance", "pages", "mu", "cv2", "page_size", "dividend", "expected"),
    [
        (1000, 1, 4096, 1, 64, 0, 0.00375601),
        (64, 4, 100, 0, 16, 0, 0.0898246),
        (64, 4, 100, 1, 16, 0, 0.0624390),
        (64, 4, 100, 0, 16, 0.5, 0.16),
        (64, 4, 64, 1, 16, 0, 0.125),
        (64, 10, 256, 1, 32, 0.1, 0.0194444),
        (0, 4, 100, 1, 16, 0, 0.0),
    ],
)
def test_the_automatic_bid_has_the_values_of_its_definition(
    balance: float, pages: int, mu: float, cv2: float, page_size: int, dividend: float, expected: float
):  # B9
    assert auto_bid(balance, dividend, pages, Horizon(mu, cv2), page_size) == pytest.approx(expected, rel=1e-4)


def test_paying_the_own_bid_to_the_expected_end_empties_the_wallet():  # B4, T23
    balance = 64.0
    for step in range(100):
        balance -= 4 * auto_bid(balance, 0.0, 4, Horizon(100 - step, 0.0), page_size=16)
    assert 0.0 <= balance < 0.01


@given(st.floats(0, 1e6), st.floats(0, 10), st.integers(0, 500), st.floats(1, 1e4))
def test_the_automatic_bid_is_finite_and_not_negative(balance: float, dividend: float, pages: int, mu: float):  # B4
    bid = auto_bid(balance, dividend, pages, Horizon(mu, 1.0), 16)
    assert 0.0 <= bid < math.inf


def test_less_than_one_expected_token_counts_as_one():  # B4
    for remaining in (0.0, 0.5):
        assert auto_bid(10.0, 0.0, 1, Horizon(remaining, 0.0), 16) == auto_bid(10.0, 0.0, 1, Horizon(1.0, 0.0), 16)


@pytest.mark.parametrize("figure", [math.nan, math.inf, -math.inf, -1.0])
def test_what_a_program_expects_is_finite_and_not_negative(figure: float):  # B4, M8
    assert declared_horizon(0, 0) == (0, 0)
    for figures in ((figure, 1.0), (1.0, figure)):
        with pytest.raises(InvalidArgumentError, match="horizon"):
            declared_horizon(*figures)


def test_contexts_of_an_account_share_by_their_pages_and_one_without_pages_counts_as_one():  # B5
    assert [share(pages, 8) for pages in (3, 4, 0)] == [3 / 8, 4 / 8, 1 / 8]


def test_a_declared_bid_is_kept_exactly():  # B1, T22
    assert declared_bid(2.5) == 2.5


@pytest.mark.parametrize("value", [-1.0, -math.inf])
def test_a_negative_bid_is_zero(value: float):  # B1, T22
    assert declared_bid(value) == 0.0


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_bid_that_is_no_finite_number_is_refused(value: float):  # B1, T22
    with pytest.raises(InvalidArgumentError, match="not a finite number"):
        declared_bid(value)


def test_a_window_of_waiting_adds_the_highest_bid():  # Q2
    assert effective_bid(0.5, 64, 5.0, 64) == 5.5


def test_waiting_counts_also_when_every_bid_is_zero():  # Q2
    assert effective_bid(0.0, 32, 0.0, 64) == 0.5
