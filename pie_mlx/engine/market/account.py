"""Accounts and their ledger: the credits of each account (M1, M2, M12, M13)."""

import math
from collections.abc import Mapping

import msgspec

from pie_mlx.errors import InvalidArgumentError


class Account(msgspec.Struct, frozen=True):
    """The credits of a launch root. Smaller ids are older.

    `dividend` is what the last tick paid to it, `spent` all that it has paid for pages and tokens. `defaulted` says
    whether it failed to pay its rent when it last ran (M9).
    """

    account: int
    endowment: float
    balance: float
    dividend: float = 0.0
    defaulted: bool = False
    spent: float = 0.0


class Ledger(msgspec.Struct, frozen=True):
    """All live accounts by id, and the treasury: what closed accounts left or owed, never spent (M12)."""

    accounts: Mapping[int, Account] = {}
    treasury: float = 0.0


def endowment_credits(token_budget: int | None, page_size: int, default_endowment_pages: int) -> int:
    """The endowment of a launch: one credit for each page its token budget fills (M2).

    Raises InvalidArgumentError for a budget below 1.
    """
    if token_budget is None:
        return default_endowment_pages
    if token_budget < 1:
        raise InvalidArgumentError(
            f"token budget {token_budget}: must be at least 1", hint="leave it out for an unlimited launch"
        )
    return math.ceil(token_budget / page_size)


def join(ledger: Ledger, account: int, endowment: float) -> Ledger:
    """The ledger with a new account whose balance is its endowment (M12)."""
    if account in ledger.accounts:
        raise InvalidArgumentError(f"account {account}: already open", hint="use a new id for each launch root")
    joined = {**ledger.accounts, account: Account(account, endowment, endowment)}
    return Ledger(joined, ledger.treasury)


def leave(ledger: Ledger, account: int) -> Ledger:
    """The ledger without `account`. Its balance above or below the endowment goes to the treasury (M12).

    An unknown account changes nothing.
    """
    leaver = ledger.accounts.get(account)
    if leaver is None:
        return ledger
    remaining = {key: value for key, value in ledger.accounts.items() if key != account}
    treasury = ledger.treasury + leaver.balance - leaver.endowment
    return Ledger(remaining, treasury if remaining else 0.0)


def prepay(ledger: Ledger, account: int, credits: float) -> tuple[Ledger, float]:
    """An account pays `credits`, or what it has, to all accounts by their endowments; the ledger, and what it paid."""
    payer = ledger.accounts[account]
    paid = max(0.0, min(payer.balance, credits))
    endowments = sum(item.endowment for item in ledger.accounts.values())
    if not paid or not endowments:
        return ledger, 0.0
    accounts = {
        key: msgspec.structs.replace(
            item,
            balance=item.balance - paid * (key == account) + paid * item.endowment / endowments,
            spent=item.spent + paid * (key == account),
        )
        for key, item in ledger.accounts.items()
    }
    return Ledger(accounts, ledger.treasury), paid


def imbalance_credits(ledger: Ledger) -> float:
    """The error of the ledger (M13): balances + treasury - endowments. 0 except for rounding."""
    accounts = ledger.accounts.values()
    return math.fsum([ledger.treasury, *(item.balance for item in accounts), *(-item.endowment for item in accounts)])
