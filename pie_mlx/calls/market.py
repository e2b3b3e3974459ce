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


class RetainContext(Call[float], frozen=True):
    """While the context does nothing, its pages are worth `priority` times what computing them again would cost, for
    `ttl_seconds`; 0 ends that. The reply is for how many seconds.

    `prepaid` is paid for now, and holds after the context is released.
    """

    context: int
    priority: float
    ttl_seconds: float
    prepaid: bool = False


class ExpectContext(Call[None], frozen=True):
    """The context will be used again in about `seconds`."""

    context: int
    seconds: float


class DemoteContext(Call[None], frozen=True):
    """The context's pages are the first to go; no hint holds any more."""

    context: int


class PrefetchContext(Call[bool], frozen=True):
    """Bring a suspended context back now if no other one has to go for it; whether it is in the pool then."""

    context: int


class MarketReading(Record, frozen=True):
    """The latest settlement (M14): credits, credits per page per tick, credits per tick, seconds per tick."""

    balance: float
    rent: float
    dividend: float
    latency_seconds: float
    page_price: float


class ReadMarket(Call[MarketReading], frozen=True):
    """Market figures for the caller at a model, that of the `context` or the default one where none is named, with
    `latency_seconds` of the context, if any."""

    context: int | None = None
    model: str = ""
