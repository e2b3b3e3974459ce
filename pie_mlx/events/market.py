"""Money, in credits."""

import msgspec

from pie_mlx.events.base import Event


class BidDeclared(Event, frozen=True):
    """A program set the bid of a context, in credits per page and tick: 0 while it idles."""

    context: int
    bid: float


class AccountJoined(Event, frozen=True):
    """A launch root got an account."""

    account: int
    endowment: float
    token_budget: int | None = None
    at_seconds: float = 0.0
    model: str = ""


class AccountLeft(Event, frozen=True):
    """A launch root ended; `treasury` sums what all ended roots left above their endowments; negative if below."""

    account: int
    balance: float
    treasury: float
    model: str = ""


class AccountMovement(msgspec.Struct, frozen=True):
    """What one account paid and received in a tick, and its balance afterwards; it has `spent` so much in all.

    A log of an older engine does not say how much (0).
    """

    account: int
    rent: float
    make_cost: float
    dividend: float
    balance: float
    defaulted: bool = False
    spent: float = 0.0


class MarketSettled(Event, frozen=True):
    """A tick moved credits or the clearing `price`, credits per page and tick. Idle accounts are left out."""

    tick: int
    price: float
    movements: tuple[AccountMovement, ...] = ()
    model: str = ""
