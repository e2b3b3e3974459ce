import pytest

from pie_mlx.engine.market import Ledger, endowment_credits, imbalance_credits, join, leave
from pie_mlx.errors import InvalidArgumentError


def test_a_token_budget_is_endowed_with_a_credit_for_each_page_it_fills():  # M2, T21
    assert endowment_credits(1000, page_size=16, default_endowment_pages=64) == 63


def test_a_launch_without_budget_gets_the_default_endowment():  # M2, T21
    assert endowment_credits(None, page_size=16, default_endowment_pages=64) == 64


@pytest.mark.parametrize("budget", [0, -5])
def test_a_token_budget_below_one_is_refused(budget: int):  # M2
    with pytest.raises(InvalidArgumentError, match="must be at least 1"):
        endowment_credits(budget, page_size=16, default_endowment_pages=64)


def test_joining_brings_the_endowment_as_balance():  # M12
    account = join(Ledger(), 1, 64.0).accounts[1]
    assert (account.endowment, account.balance, account.defaulted) == (64.0, 64.0, False)


def test_an_account_joins_once():
    with pytest.raises(InvalidArgumentError, match="already open"):
        join(join(Ledger(), 1, 64.0), 1, 64.0)


def test_joining_leaves_the_old_ledger_as_it_was():  # M5
    before = join(Ledger(), 1, 64.0)
    join(before, 2, 10.0)
    assert list(before.accounts) == [1]


def test_the_treasury_takes_what_a_leaver_has_above_or_below_its_endowment(ledger_of):  # M12
    ledger = ledger_of({1: (64.0, 10.0), 2: (64.0, 118.0)})
    assert leave(ledger, 1).treasury == -54.0
    assert imbalance_credits(leave(ledger, 1)) == 0.0


def test_the_treasury_is_empty_when_nobody_is_left(ledger_of):  # M12
    assert leave(ledger_of({1: (64.0, 64.0)}), 1) == Ledger()


def test_leaving_twice_changes_nothing(ledger_of):  # M5
    ledger = leave(ledger_of({1: (64.0, 10.0), 2: (64.0, 118.0)}), 1)
    assert leave(ledger, 1) == ledger
