"""The engine's books of credits and tokens: the market's pure functions applied to the running accounts."""

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pie_mlx.calls import MarketReading
from pie_mlx.engine.market import (
    Horizon,
    Ledger,
    Reservation,
    Settlement,
    SettlementView,
    Wallet,
    auto_bid,
    endowment_credits,
    join,
    leave,
    reserve_pass,
    settle,
    settle_pass,
    share,
)
from pie_mlx.engine.market.settlement import Holding
from pie_mlx.events import AccountJoined, AccountLeft, Event

PAGE_PRICE = 1.0
"""Credits per page that a context computes itself (M10)."""

LATENCY_WEIGHT = 0.1
"""Weight of the newest sample in a context's smoothed seconds per tick (M14)."""


def _ignore(event: Event) -> None: ...


@dataclass(slots=True)
class Bank:
    """Accounts, wallets and the figures of the latest settlement (M14).

    Without `sells_pages` (policies that do not price pages) the clearing price is 0 and no rent is due; make cost and
    dividends move credits all the same.
    """

    page_size: int
    capacity_pages: int
    default_endowment_pages: int
    default_token_limit: int | None
    sells_pages: bool
    ledger: Ledger = field(default_factory=Ledger)
    price: float = 0.0
    wallets: dict[int, Wallet] = field(default_factory=dict[int, Wallet])
    latencies: dict[int, float] = field(default_factory=dict[int, float])
    emit: Callable[[Event], None] = _ignore
    clock: Callable[[], float] = time.monotonic
    is_settled: bool = True
    """Whether settling once more would change nothing, unless pages are made or somebody waits for pages."""
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def open_account(self, token_budget: int | None) -> int:
        """A launch root joins (M2, M3). Raises InvalidArgumentError for a budget below 1."""
        endowment = endowment_credits(token_budget, self.page_size, self.default_endowment_pages)
        account = next(self._numbers)
        self.ledger = join(self.ledger, account, endowment)
        self.wallets[account] = Wallet(self.default_token_limit if token_budget is None else token_budget)
        self.emit(AccountJoined(account, float(endowment), token_budget, self.clock()))
        return account

    def close_account(self, account: int) -> None:
        """The last process of a launch root ended (M12)."""
        leaver = self.ledger.accounts.get(account)
        if leaver is None:
            return
        self.ledger = leave(self.ledger, account)
        del self.wallets[account]
        self.emit(AccountLeft(account, leaver.balance, self.ledger.treasury))

    def reserve_tokens(self, account: int, inputs: int, drafts: int = 0) -> Reservation:
        """Set tokens aside for a pass and for as many drafts as there are tokens. Raises TokenBudgetError (M3)."""
        self.wallets[account], reservation = reserve_pass(self.wallets[account], inputs, drafts)
        return reservation

    def settle_tokens(self, account: int, reservation: Reservation, appended: int) -> None:
        """A pass ended having appended `appended` tokens, 0 when it failed."""
        self.wallets[account] = settle_pass(self.wallets[account], reservation, appended)

    def is_budgeted(self, account: int) -> bool:
        """Whether there is an end to the tokens it may use."""
        return self.wallets[account].remaining is not None

    def settle(self, holdings: Sequence[Holding], batch: Sequence[int], made_pages: Mapping[int, int]) -> Settlement:
        """Settle one tick (M5)."""
        view = SettlementView(
            capacity_pages=self.capacity_pages,
            page_price=PAGE_PRICE,
            ledger=self.ledger,
            holdings=tuple(holdings),
            batch=tuple(batch),
            made_pages=made_pages,
            sells_pages=self.sells_pages,
        )
        settlement = settle(view)
        self.ledger, self.price = settlement.ledger, settlement.price
        self.is_settled = not (
            self.price or settlement.revenue or any(item.defaulted for item in self.ledger.accounts.values())
        )
        return settlement

    def sample_latency(self, context: int, seconds: float) -> None:
        """One tick of a context took `seconds`."""
        last = self.latencies.get(context)
        weight = LATENCY_WEIGHT
        self.latencies[context] = seconds if last is None else weight * seconds + (1 - weight) * last

    def forget_context(self, context: int) -> None:
        self.latencies.pop(context, None)

    def automatic_bid(self, account: int, pages: int, account_pages: int, expected: Horizon) -> float:
        """B4 for one context of `pages` pages, whose account's live contexts have `account_pages` (B5)."""
        wallet = self.ledger.accounts[account]
        part = share(pages, account_pages)
        return auto_bid(wallet.balance * part, wallet.dividend * part, pages, expected, self.page_size)

    def is_defaulted(self, account: int) -> bool:
        found = self.ledger.accounts.get(account)
        return found is not None and found.defaulted

    def reading(self, account: int, context: int | None) -> MarketReading:
        """The latest settlement as one account sees it."""
        wallet = self.ledger.accounts[account]
        latency_seconds = 0.0 if context is None else self.latencies.get(context, 0.0)
        return MarketReading(wallet.balance, self.price, wallet.dividend, latency_seconds, PAGE_PRICE)
