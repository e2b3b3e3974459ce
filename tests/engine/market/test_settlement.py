"""Prices and settlements."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.market import Holding, SettlementView, clearing_price, imbalance_credits, join, leave, settle


def test_without_contention_nobody_pays(ledger_of):  # M7, M8, T17
    view = SettlementView(100, 1.0, ledger_of({1: (64, 64)}), (Holding(1, 1, 2.0, 5),), (1,))
    settlement = settle(view)
    assert (settlement.price, settlement.revenue) == (0.0, 0.0)


@pytest.mark.parametrize(("waiting_bid", "price", "rent"), [(0.5, 0.5, 2.5), (3.0, 2.0, 10.0)])
def test_a_waiting_context_sets_the_price_a_running_one_pays(ledger_of, waiting_bid, price, rent):  # M6, M8, T18
    holdings = (Holding(1, 1, 2.0, 5), Holding(2, 1, waiting_bid, 0, lacking_pages=4))
    settlement = settle(SettlementView(8, 1.0, ledger_of({1: (64, 64)}), holdings, (1,)))
    assert settlement.price == price
    assert settlement.charges[0].rent == rent


def test_a_lone_account_ends_each_tick_with_what_it_had(ledger_of):  # M11, T18
    holdings = (Holding(1, 1, 2.0, 5), Holding(2, 1, 0.5, 0, lacking_pages=4))
    view = SettlementView(8, 1.0, ledger_of({1: (64, 64)}), holdings, (1,), {1: 1})
    assert settle(view).ledger.accounts[1].balance == pytest.approx(64)


def test_what_an_account_has_spent_is_all_that_it_paid_whatever_it_gets_back(ledger_of):
    holdings = (Holding(1, 1, 2.0, 5), Holding(2, 2, 0.5, 0, lacking_pages=4))
    ledger = ledger_of({1: (64, 64), 2: (64, 64)})
    for _ in range(2):
        ledger = settle(SettlementView(8, 1.0, ledger, holdings, (1,), {1: 1})).ledger
    assert [account.spent for account in ledger.accounts.values()] == [2 * (0.5 * 5 + 1.0), 0.0]


def test_rent_is_due_on_effective_pages(ledger_of):  # M8, K9
    holdings = (Holding(1, 1, 2.0, 2.5), Holding(2, 2, 1.0, 3.5), Holding(3, 2, 0.5, 0, 4))
    settlement = settle(SettlementView(6, 1.0, ledger_of({1: (64, 64), 2: (64, 64)}), holdings, (1,)))
    assert settlement.charges[0].rent == pytest.approx(0.5 * 2.5)


def test_an_account_that_cannot_pay_pays_what_it_has_and_defaults(ledger_of):  # M8, M9, T19
    holdings = (Holding(1, 1, 60.0, 1), Holding(2, 2, 50.0, 0, 1))
    ledger = ledger_of({1: (64, 1), 2: (64, 127)})
    settlement = settle(SettlementView(1, 1.0, ledger, holdings, (1,)))
    assert settlement.receipts[0].rent_owed == 50.0
    assert settlement.receipts[0].rent_paid == 1.0
    assert settlement.ledger.accounts[1].defaulted
    assert imbalance_credits(settlement.ledger) == pytest.approx(0.0, abs=1e-9)


def test_a_tick_paid_in_full_clears_the_default(ledger_of):  # M9, T19
    holdings = (Holding(1, 1, 60.0, 1), Holding(2, 2, 50.0, 0, 1))
    broke = settle(SettlementView(1, 1.0, ledger_of({1: (64, 1), 2: (64, 127)}), holdings, (1,))).ledger
    calm = settle(SettlementView(5, 1.0, broke, holdings, (1,)))
    assert not calm.ledger.accounts[1].defaulted


def test_a_tick_without_the_account_leaves_its_default(ledger_of):  # M9
    holdings = (Holding(1, 1, 60.0, 1), Holding(2, 2, 50.0, 0, 1))
    broke = settle(SettlementView(1, 1.0, ledger_of({1: (64, 1), 2: (64, 127)}), holdings, (1,))).ledger
    assert settle(SettlementView(5, 1.0, broke, holdings, (2,))).ledger.accounts[1].defaulted


def test_make_cost_alone_is_no_default(ledger_of):  # M9, M10
    view = SettlementView(10, 1.0, ledger_of({1: (64, 1), 2: (64, 127)}), (Holding(1, 1, 2.0, 5),), (1,), {1: 3})
    settlement = settle(view)
    assert settlement.receipts[0].make_paid == 1.0
    assert not settlement.ledger.accounts[1].defaulted


def test_each_computed_page_costs_the_page_price(ledger_of):  # M10
    view = SettlementView(10, 2.0, ledger_of({1: (64, 64)}), (Holding(1, 1, 2.0, 5),), (1,), {1: 3})
    assert settle(view).receipts[0].make_paid == 6.0


def test_what_the_rent_leaves_pays_for_pages(ledger_of):  # M8, M10
    holdings = (Holding(1, 1, 2.0, 5), Holding(2, 2, 0.5, 0, lacking_pages=4))
    ledger = ledger_of({1: (64, 4), 2: (64, 124)})
    receipt = settle(SettlementView(8, 1.0, ledger, holdings, (1,), {1: 3})).receipts[0]
    assert (receipt.rent_paid, receipt.make_owed, receipt.make_paid) == (2.5, 3.0, 1.5)


def test_a_context_twice_in_the_batch_is_charged_once(ledger_of):  # M8, T20
    holdings = (Holding(1, 1, 2.0, 5), Holding(2, 1, 1.0, 0, 4))
    settlement = settle(SettlementView(8, 1.0, ledger_of({1: (64, 64)}), holdings, (1, 1)))
    assert len(settlement.charges) == 1


def test_unknown_and_ownerless_ids_are_ignored(ledger_of):  # M5, T20
    holdings = (Holding(1, 1, 2.0, 5), Holding(7, 99, 1.0, 5))
    settlement = settle(SettlementView(8, 1.0, ledger_of({1: (64, 64)}), holdings, (1, 7, 1234), {7: 2, 1234: 5}))
    assert [charge.context for charge in settlement.charges] == [1]


def test_contexts_outside_the_batch_owe_nothing(ledger_of):  # M8
    holdings = (Holding(1, 1, 2.0, 5), Holding(2, 2, 1.0, 4))
    settlement = settle(SettlementView(8, 1.0, ledger_of({1: (64, 64), 2: (64, 64)}), holdings, (1,)))
    assert settlement.receipts[1].rent_owed == 0.0


def test_dividends_follow_the_endowments_and_payers_get_theirs(ledger_of):  # M11
    holdings = (Holding(1, 1, 2.0, 6), Holding(2, 2, 1.0, 4))
    settlement = settle(SettlementView(8, 1.0, ledger_of({1: (30, 30), 2: (90, 90)}), holdings, (1,)))
    assert settlement.revenue == 6.0
    assert [receipt.dividend for receipt in settlement.receipts] == [1.5, 4.5]
    assert settlement.ledger.accounts[1].balance == 30 - 6 + 1.5
    assert settlement.ledger.accounts[2].dividend == 4.5


def test_a_policy_that_sells_nothing_takes_no_rent(ledger_of):
    holdings = (Holding(1, 1, 2.0, 6), Holding(2, 2, 1.0, 4))
    ledger = ledger_of({1: (30, 30), 2: (90, 90)})
    settlement = settle(SettlementView(8, 1.0, ledger, holdings, (1,), sells_pages=False))
    assert (settlement.price, settlement.ledger) == (0.0, ledger)


def test_settling_with_nobody_live_settles_nothing(ledger_of):
    assert settle(SettlementView(8, 1.0, ledger_of({}))).receipts == ()


def test_settling_twice_gives_the_same(ledger_of):  # M5
    holdings = (Holding(1, 1, 2.0, 6), Holding(2, 2, 1.0, 4))
    view = SettlementView(8, 1.0, ledger_of({1: (30, 30), 2: (90, 90)}), holdings, (1, 2), {2: 1})
    assert settle(view) == settle(view)


def test_one_account_pays_another_and_both_leave_without_a_trace(ledger_of):  # M12, T29
    holdings = (Holding(1, 1, 2.0, 6), Holding(2, 2, 1.0, 4))
    ledger = settle(SettlementView(8, 1.0, ledger_of({1: (30, 30), 2: (90, 90)}), holdings, (1,))).ledger
    after_first = leave(ledger, 1)
    assert after_first.treasury == pytest.approx(-4.5)
    assert imbalance_credits(join(after_first, 3, 10.0)) == pytest.approx(0.0, abs=1e-9)


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
