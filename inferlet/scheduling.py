"""Figures of the page market, as of its latest settlement."""

from inferlet._calls.host import current_host
from inferlet.context import Context
from inferlet.model import Model
from pie_mlx.calls import ReadMarket

__all__ = ["balance", "dividend", "latency", "price", "rent"]


def balance(model: Model) -> float:
    """Credits this launch owns."""
    return model.host.call(ReadMarket(model=model.name)).balance


def rent(ctx: Context) -> float:
    """The clearing price in credits per page per tick."""
    return ctx.model.host.call(ReadMarket(ctx.id)).rent


def dividend(model: Model) -> float:
    """Credits this launch received in the last tick."""
    return model.host.call(ReadMarket(model=model.name)).dividend


def latency(ctx: Context) -> float:
    """Seconds per tick, smoothed."""
    return ctx.model.host.call(ReadMarket(ctx.id)).latency_seconds


def price() -> float:
    """Credits for computing one new page."""
    return current_host().call(ReadMarket()).page_price
