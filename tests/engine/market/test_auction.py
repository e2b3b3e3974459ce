"""The clearing price of demands for pages (M7)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.market import clearing_price

DEMANDS = st.lists(st.tuples(st.floats(0, 100), st.floats(0, 50)), min_size=1, max_size=30)


def price(capacity: float, *demands: tuple[float, float]) -> float:
    """The price of (bid, pages) demands."""
    bids, pages = np.array(demands, dtype=np.float64).reshape(-1, 2).T
    return clearing_price(bids, pages, capacity)


@pytest.mark.parametrize(
    ("demands", "expected"),
    [
        (((3, 5), (2, 5)), 0.0),
        (((3, 5), (2, 5), (1, 4)), 1.0),
        (((3, 5), (2, 5), (2.5, 4)), 2.0),
    ],
)
def test_the_price_is_the_highest_bid_left_out(demands: tuple[tuple[float, float], ...], expected: float):  # M7, T18
    assert price(10, *demands) == expected


def test_nothing_is_scarce_so_nothing_costs():  # M7, T17
    assert price(100, (2.0, 5)) == 0.0
    assert price(5, (1.5, 5)) == 0.0


def test_an_idle_holder_of_most_of_the_pool_does_not_pull_the_price_to_zero():  # M7
    assert price(10, (0.0, 9), (2.0, 4), (1.5, 4), (1.0, 4)) == 1.0


def test_a_holder_that_bids_nothing_and_is_left_out_sets_a_price_of_zero():  # M7
    assert price(10, (2.0, 8), (0.0, 5)) == 0.0


def test_fractions_of_shared_pages_that_add_up_to_the_pool_fit():  # M7, K9
    assert price(10, *((1.0, 10 / 3) for _ in range(3)), (5.0, 0.0)) == 0.0


def test_no_demand_at_all_has_a_price_of_zero():
    assert clearing_price(np.empty(0), np.empty(0), 10) == 0.0


@given(DEMANDS, st.integers(1, 200))
def test_the_price_is_what_filling_bid_by_bid_gives(demands: list[tuple[float, float]], capacity: int):  # M7
    left = capacity + 1e-6
    expected = 0.0
    for bid, pages in sorted(demands, key=lambda demand: -demand[0]):
        left -= pages
        if left < -1e-9:
            expected = bid
            break
    assert price(capacity, *demands) == pytest.approx(expected)


@given(DEMANDS, st.integers(1, 200), st.randoms())
def test_the_order_of_the_demands_does_not_matter(demands: list[tuple[float, float]], capacity: int, source):  # M7
    shuffled = list(demands)
    source.shuffle(shuffled)
    assert price(capacity, *shuffled) == price(capacity, *demands)
