"""Accounting of credits and tokens: applies the market's pure functions to the running accounts."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from pie_mlx.calls import MarketReading
from pie_mlx.engine.market.account import Account, Ledger, endowment_credits, join, leave, prepay
from pie_mlx.engine.market.bids import Horizon, auto_bid, share
from pie_mlx.engine.market.retention import prepaid_cost
from pie_mlx.engine.market.settlement import Holding, Settlement, SettlementView, settle
from pie_mlx.errors import TokenBudgetError
from pie_mlx.events import AccountJoined, AccountLeft, AccountMovement, Event, MarketSettled


class TokenWallet(msgspec.Struct, frozen=True):
    """`remaining` tokens (None: unlimited), of which `reserved` are promised to passes in flight."""

    remaining: int | None = None
    reserved: int = 0

    @property
    def free(self) -> int | None:
        """Tokens that a further pass may use; None when unlimited."""
        return None if self.remaining is None else max(self.remaining - self.reserved, 0)


class Reservation(msgspec.Struct, frozen=True):
    """The tokens reserved for a pass: all its inputs and the first `drafts` drafts. Return it with `charge_pass`."""

    inputs: int
    drafts: int

    @property
    def tokens(self) -> int:
        return self.inputs + self.drafts


def reserve_pass(wallet: TokenWallet, inputs: int, drafts: int = 0) -> tuple[TokenWallet, Reservation]:
    """Reserves tokens for a pass and drops drafts that do not fit. Raises TokenBudgetError if the inputs do not fit."""
    free = wallet.free
    if free is None:
        return wallet, Reservation(inputs, drafts)
    if inputs > free:
        raise TokenBudgetError(
            f"a pass of {inputs} tokens needs more than the {free} tokens left of the token budget",
            hint="launch with a larger token_budget, or shorten the input",
            needed=inputs,
            remaining=free,
        )
    reservation = Reservation(inputs, min(drafts, free - inputs))
    return msgspec.structs.replace(wallet, reserved=wallet.reserved + reservation.tokens), reservation


def charge_pass(wallet: TokenWallet, reservation: Reservation, appended: int) -> TokenWallet:
    """Charges a pass for the `appended` tokens, cache hits included; 0 if it failed or was cancelled.

    A later truncation refunds nothing.
    """
    if wallet.remaining is None:
        return wallet
    return TokenWallet(max(wallet.remaining - appended, 0), max(wallet.reserved - reservation.tokens, 0))


PAGE_PRICE = 1.0
"""Credits charged for each page that a context computes (M10)."""

LATENCY_WEIGHT = 0.1
"""Weight of the newest sample in a context's smoothed latency (M14)."""


def _ignore(event: Event) -> None: ...


@dataclass(slots=True)
class Accounting:
    """Accounts, wallets and the figures of the latest settlement (M14).

    Without `sells_pages` (for policies that do not price pages) the clearing price is 0 and no rent is due. Make cost
    and dividends still move credits. The `wallets` are those of all models, and outlive the accounts.
    """

    page_size: int
    capacity_pages: int
    default_endowment_pages: int
    default_token_limit: int | None
    sells_pages: bool
    ledger: Ledger = field(default_factory=Ledger)
    price: float = 0.0
    wallets: dict[int, TokenWallet] = field(default_factory=dict[int, TokenWallet])
    latencies: dict[int, float] = field(default_factory=dict[int, float])
    emit: Callable[[Event], None] = _ignore
    clock: Callable[[], float] = time.monotonic
    is_settled: bool = True
    """Whether another settlement would change nothing, unless pages are made or a context waits for pages."""

    def open_account(self, account: int, token_budget: int | None) -> None:
        """Opens the account of a launch root (M2, M3). Raises InvalidArgumentError for a budget below 1."""
        endowment = endowment_credits(token_budget, self.page_size, self.default_endowment_pages)
        self.ledger = join(self.ledger, account, endowment)
        limit = self.default_token_limit if token_budget is None else token_budget
        self.wallets.setdefault(account, TokenWallet(limit))
        self.emit(AccountJoined(account, float(endowment), token_budget, self.clock()))

    def close_account(self, account: int) -> None:
        """Closes an account when the last process of its launch root has ended (M12)."""
        leaver = self.ledger.accounts.get(account)
        if leaver is None:
            return
        self.ledger = leave(self.ledger, account)
        self.emit(AccountLeft(account, leaver.balance, self.ledger.treasury))

    def reserve_tokens(self, account: int, inputs: int, drafts: int = 0) -> Reservation:
        """Reserves tokens for a pass and for as many drafts as still fit. Raises TokenBudgetError (M3)."""
        self.wallets[account], reservation = reserve_pass(self.wallets[account], inputs, drafts)
        return reservation

    def charge_tokens(self, account: int, reservation: Reservation, appended: int) -> None:
        """Charges a pass that appended `appended` tokens (0 if it failed), and releases the rest of its reservation."""
        self.wallets[account] = charge_pass(self.wallets[account], reservation, appended)

    def is_budgeted(self, account: int) -> bool:
        """Whether its tokens are limited."""
        return self.wallets[account].remaining is not None

    def settle(self, holdings: Sequence[Holding], batch: Sequence[int], made_pages: Mapping[int, int]) -> Settlement:
        """Settles one tick (M5)."""
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

    def keep_pages(self, account: int, pages: int, priority: float, ttl_seconds: float, tick: int) -> float:
        """Charges an account for keeping pages after their context is gone; for how many seconds its balance pays.

        `tick` is the latest one.
        """
        cost = prepaid_cost(pages, priority, ttl_seconds, PAGE_PRICE)
        if not cost:
            return 0.0
        before = self.ledger.accounts
        self.ledger, paid = prepay(self.ledger, account, cost)
        rents = {account: paid}
        moved = [_movement(before[key], after, rents.get(key, 0.0)) for key, after in self.ledger.accounts.items()]
        self.emit(MarketSettled(tick, self.price, tuple(moved)))
        return ttl_seconds * paid / cost

    def sample_latency(self, context: int, seconds: float) -> None:
        """Adds a sample to the smoothed latency of a context."""
        last = self.latencies.get(context)
        weight = LATENCY_WEIGHT
        self.latencies[context] = seconds if last is None else weight * seconds + (1 - weight) * last

    def forget_context(self, context: int) -> None:
        self.latencies.pop(context, None)

    def automatic_bid(self, account: int, pages: int, account_pages: int, expected: Horizon) -> float:
        """The automatic bid (B4) for one context of `pages` pages. The live contexts of its account have
        `account_pages` (B5)."""
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


def _movement(before: Account, after: Account, rent: float) -> AccountMovement:
    received = after.balance - before.balance + rent
    return AccountMovement(after.account, rent, 0.0, received, after.balance, after.defaulted, after.spent)
