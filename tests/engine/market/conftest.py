"""Ledgers for the market's tests."""

from collections.abc import Callable, Mapping

import pytest

from pie_mlx.engine.market import Account, Ledger


@pytest.fixture
def ledger_of() -> Callable[[Mapping[int, tuple[float, float]]], Ledger]:
    """Makes a ledger of {account: (endowment, balance)}."""

    def make(accounts: Mapping[int, tuple[float, float]]) -> Ledger:
        return Ledger({number: Account(number, *credits) for number, credits in accounts.items()})

    return make
