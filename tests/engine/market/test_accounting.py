"""The books of the engine between two ticks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.market import Holding
from pie_mlx.engine.market.accounting import Accounting, TokenWallet, charge_pass, reserve_pass
from pie_mlx.errors import TokenBudgetError


@pytest.fixture
def accounting() -> Accounting:
    accounting = Accounting(
        16, capacity_pages=10, default_endowment_pages=64, default_token_limit=None, sells_pages=True
    )
    for account in (1, 2):
        accounting.open_account(account, None)
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


def spend(wallet: TokenWallet, tokens: int) -> TokenWallet:
    reserved, reservation = reserve_pass(wallet, tokens)
    return charge_pass(reserved, reservation, tokens)


def test_a_wallet_is_debited_by_the_tokens_appended():  # M3, T21
    assert spend(TokenWallet(1000), 600) == TokenWallet(400)


def test_debits_saturate_at_zero():  # M3, T21
    reserved, reservation = reserve_pass(TokenWallet(400), 400)
    assert charge_pass(reserved, reservation, 600) == TokenWallet(0)


def test_an_empty_wallet_refuses_a_token():  # M3, T21
    with pytest.raises(TokenBudgetError) as caught:
        reserve_pass(TokenWallet(0), 1)
    assert (caught.value.needed, caught.value.remaining) == (1, 0)


def test_a_pass_of_no_tokens_always_goes_through():  # M3, T21
    assert reserve_pass(TokenWallet(0), 0)[1].tokens == 0


def test_drafts_are_trimmed_before_inputs_are_refused():  # M3
    assert reserve_pass(TokenWallet(5), 2, drafts=8)[1].drafts == 3


def test_passes_in_flight_cannot_overspend_together():  # M3
    wallet, _ = reserve_pass(TokenWallet(10), 7)
    with pytest.raises(TokenBudgetError):
        reserve_pass(wallet, 4)


def test_rejected_drafts_are_refunded():  # M3
    reserved, reservation = reserve_pass(TokenWallet(10), 1, drafts=4)
    assert charge_pass(reserved, reservation, 3) == TokenWallet(7)


def test_a_failed_pass_costs_nothing():  # E3, E4
    reserved, reservation = reserve_pass(TokenWallet(10), 6)
    assert charge_pass(reserved, reservation, 0) == TokenWallet(10)


def test_an_unlimited_wallet_never_ends():  # T21
    wallet, reservation = reserve_pass(TokenWallet(), 10**9, drafts=5)
    assert charge_pass(wallet, reservation, 10**9) == TokenWallet()
    assert reservation.drafts == 5


@given(st.integers(0, 50), st.lists(st.tuples(st.integers(0, 20), st.integers(0, 8)), max_size=12))
def test_never_more_is_appended_than_the_budget(budget: int, passes: list[tuple[int, int]]):  # M3
    wallet, appended, open_passes = TokenWallet(budget), 0, []
    for inputs, drafts in passes:
        try:
            wallet, reservation = reserve_pass(wallet, inputs, drafts)
        except TokenBudgetError:
            continue
        open_passes.append(reservation)
    for reservation in open_passes:
        wallet = charge_pass(wallet, reservation, reservation.tokens)
        appended += reservation.tokens
    assert appended <= budget
    assert wallet == TokenWallet(budget - appended)
