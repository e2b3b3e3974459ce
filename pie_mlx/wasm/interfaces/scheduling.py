"""`pie:core/scheduling`: figures of the page market."""

from inferlet import scheduling as sdk
from pie_mlx import calls
from pie_mlx.wasm.interfaces.context import Context
from pie_mlx.wasm.interfaces.model import Model
from pie_mlx.wasm.offers import Interface


def price() -> float:
    return sdk.price()


def rent(context: Context) -> float:
    return _reading(context).rent


def dividend(model: Model) -> float:
    return sdk.dividend(model.sdk)


def latency(context: Context) -> float:
    return _reading(context).latency_seconds


def balance(model: Model) -> float:
    return sdk.balance(model.sdk)


def _reading(context: Context) -> calls.MarketReading:
    return context.host.call(calls.ReadMarket(context.number))


INTERFACES = (Interface("pie:core/scheduling", (price, rent, dividend, latency, balance)),)
