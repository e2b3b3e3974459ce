"""The settlement of a tick: the price by auction, rent, make cost and dividends (M5-M11). Pure functions."""

from collections.abc import Iterable, Mapping

import msgspec
import numpy as np
import numpy.typing as npt

from pie_mlx.engine.market.account import Account, Ledger

PAGE_TOLERANCE = 1e-6
"""Effective pages are sums of fractions: demands above the capacity by less than this still fit."""


def clearing_price(bids: npt.NDArray[np.float64], pages: npt.NDArray[np.float64], capacity_pages: float) -> float:
    """The highest bid left out when `capacity_pages` are given to the highest bids first (M7); 0 when all demands fit.

    `bids` (credits per page per tick) and `pages` are float64 vectors of one length. Who comes first of equal bids
    does not matter to the price. Demands of no pages are no demands.
    """
    if pages.sum() <= capacity_pages + PAGE_TOLERANCE:
        return 0.0
    order = np.argsort(-bids)
    filled = np.cumsum(pages[order])
    left_out = order[np.searchsorted(filled, capacity_pages + PAGE_TOLERANCE, side="right") :]
    return float(bids[left_out[0]])


class Holding(msgspec.Struct, frozen=True):
    """One live context after the tick.

    `pages` are effective (K9), 0 off-pool. `lacking_pages` are the pages that its waiting operation still needs;
    off-pool with work, the pages that a restore needs (M6).
    """

    context: int
    account: int
    bid: float
    pages: float
    lacking_pages: int = 0


class SettlementView(msgspec.Struct, frozen=True):
    """The state after the appends and commits of a tick.

    `batch` lists the contexts with rows, not counting replay. `made_pages` counts, for each of them, the committed
    pages with at least one token that it computed (M10). Unknown ids are ignored. Without `sells_pages` the price is 0
    and no rent is due.
    """

    capacity_pages: int
    page_price: float
    ledger: Ledger
    holdings: tuple[Holding, ...] = ()
    batch: tuple[int, ...] = ()
    made_pages: Mapping[int, int] = {}
    sells_pages: bool = True


class Charge(msgspec.Struct, frozen=True):
    """What one context of the batch owes for this tick, in credits."""

    context: int
    account: int
    rent: float
    make_cost: float


class Receipt(msgspec.Struct, frozen=True):
    """What one account owed, paid and received in this tick, in credits."""

    account: int
    rent_owed: float
    rent_paid: float
    make_owed: float
    make_paid: float
    dividend: float


class Settlement(msgspec.Struct, frozen=True):
    """A settled tick: the clearing price (M7), the new ledger, and every payment."""

    price: float
    ledger: Ledger
    charges: tuple[Charge, ...]
    receipts: tuple[Receipt, ...]

    @property
    def revenue(self) -> float:
        return sum(receipt.rent_paid + receipt.make_paid for receipt in self.receipts)


def demand_price(holdings: Iterable[Holding], capacity_pages: int) -> float:
    """The clearing price for the pages that `holdings` have and need."""
    demands = [(item.bid, item.pages + item.lacking_pages) for item in holdings]
    columns: npt.NDArray[np.float64] = np.array(demands, dtype=np.float64).reshape(-1, 2)
    return clearing_price(columns[:, 0], columns[:, 1], capacity_pages)


def settle(view: SettlementView) -> Settlement:
    """Prices the pool, charges the batch and distributes the revenue. Credits only move: none is created or lost
    (M13)."""
    price = demand_price(view.holdings, view.capacity_pages) if view.sells_pages else 0.0
    charges = _charges(view, price)
    paid = _payments(view.ledger, charges)
    revenue = sum(receipt.rent_paid + receipt.make_paid for receipt in paid.values())
    return _pay_dividends(view.ledger, price, charges, paid, revenue)


def _charges(view: SettlementView, price: float) -> tuple[Charge, ...]:
    holdings = {item.context: item for item in view.holdings if item.account in view.ledger.accounts}
    ran = [holdings[context] for context in dict.fromkeys(view.batch) if context in holdings]
    return tuple(
        Charge(item.context, item.account, price * item.pages, view.page_price * view.made_pages.get(item.context, 0))
        for item in ran
    )


def _payments(ledger: Ledger, charges: tuple[Charge, ...]) -> dict[int, Receipt]:
    """Receipts of the accounts that ran, without dividends."""
    rents: dict[int, float] = {}
    makes: dict[int, float] = {}
    for charge in charges:
        rents[charge.account] = rents.get(charge.account, 0.0) + charge.rent
        makes[charge.account] = makes.get(charge.account, 0.0) + charge.make_cost
    return {account: _payment(ledger.accounts[account], rents[account], makes[account]) for account in rents}


def _payment(account: Account, rent: float, make_cost: float) -> Receipt:
    rent_paid = min(account.balance, rent)
    make_paid = min(account.balance - rent_paid, make_cost)
    return Receipt(account.account, rent, rent_paid, make_cost, make_paid, 0.0)


def _pay_dividends(
    ledger: Ledger, price: float, charges: tuple[Charge, ...], paid: dict[int, Receipt], revenue: float
) -> Settlement:
    endowments = sum(account.endowment for account in ledger.accounts.values())
    rate = revenue / endowments if endowments else 0.0
    accounts: dict[int, Account] = {}
    receipts: list[Receipt] = []
    for account in ledger.accounts.values():
        receipt = _with_dividend(account, paid.get(account.account), rate * account.endowment)
        accounts[account.account] = _settled(account, receipt, ran=account.account in paid)
        receipts.append(receipt)
    return Settlement(price, Ledger(accounts, ledger.treasury), charges, tuple(receipts))


def _with_dividend(account: Account, receipt: Receipt | None, dividend: float) -> Receipt:
    if receipt is None:
        return Receipt(account.account, 0.0, 0.0, 0.0, 0.0, dividend)
    return msgspec.structs.replace(receipt, dividend=dividend)


def _settled(account: Account, receipt: Receipt, ran: bool) -> Account:
    paid = receipt.rent_paid + receipt.make_paid
    balance = account.balance - paid + receipt.dividend
    defaulted = receipt.rent_paid < receipt.rent_owed if ran else account.defaulted
    return Account(account.account, account.endowment, balance, receipt.dividend, defaulted, account.spent + paid)
