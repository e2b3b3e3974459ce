"""Bids, suspension and figures of the market."""

from pie_mlx.calls.base import Call, Record


class SetBid(Call[float], frozen=True):
    """Declare a bid in credits per page per tick (B1). The reply is the bid that holds."""

    context: int
    bid: float


class Rebid(Call[float], frozen=True):
    """Renew the automatic bid for `remaining_tokens` more tokens with that squared coefficient of variation (B4)."""

    context: int
    remaining_tokens: float
    variation: float


class SuspendContext(Call[None], frozen=True):
    """Give all pages back now (R2). Raises ContextBusyError during a pass."""

    context: int


class MarketReading(Record, frozen=True):
    """The latest settlement (M14): credits, credits per page per tick, credits per tick, seconds per tick."""

    balance: float
    rent: float
    dividend: float
    latency_seconds: float
    page_price: float


class ReadMarket(Call[MarketReading], frozen=True):
    """Market figures for the caller, with `latency_seconds` of the named context, if any."""

    context: int | None = None
