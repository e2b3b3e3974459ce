"""The operations of rules that compute with arrays alone: rows [rows, width] and numbers [rows, 1]."""

from collections.abc import Callable

import mlx.core as mx

from pie_mlx.backends import current_backend


def _mass_threshold(order: mx.array, weight: mx.array, mass: mx.array) -> mx.array:
    places = mx.argsort(order, axis=-1)
    running = mx.cumsum(mx.take_along_axis(mx.broadcast_to(weight, order.shape), places, axis=-1), axis=-1)
    before = mx.sum(running < mass * running[:, -1:], axis=-1, keepdims=True)
    first = mx.minimum(before, order.shape[-1] - 1)
    return mx.take_along_axis(order, mx.take_along_axis(places, first, axis=-1), axis=-1)


def _hash(first: mx.array, second: mx.array, third: mx.array) -> mx.array:
    """24 bits of a mix of three integers (the finaliser of Wellons' lowbias32, once for each), as a float of [0, 1)."""
    mixed = mx.array(0x9E3779B9, mx.uint32)
    for part in (first, second, third):
        mixed = mixed ^ part.astype(mx.uint32)
        for factor, shift in ((0x7FEB352D, 15), (0x846CA68B, 16)):
            mixed = (mixed ^ (mixed >> 16)) * mx.array(factor, mx.uint32)
            mixed = mixed ^ (mixed >> shift)
    return (mixed >> 8).astype(mx.float32) * (1 / (1 << 24))


def _exponential(values: mx.array) -> mx.array:
    return current_backend().exponential(values)


def _log_sum_exp(row: mx.array) -> mx.array:
    return current_backend().log_sum_exp(row)


def _largest(row: mx.array) -> mx.array:
    return current_backend().largest(row)


def _cumulative_sum(row: mx.array) -> mx.array:
    return mx.cumsum(row, axis=-1)


def _floats(values: mx.array) -> mx.array:
    return values.astype(mx.float32)


def _integers(values: mx.array) -> mx.array:
    return values.astype(mx.int32)


def _reduced(function: Callable[..., mx.array]) -> Callable[[mx.array], mx.array]:
    def over_row(row: mx.array) -> mx.array:
        return function(row, axis=-1, keepdims=True)

    return over_row


ARRAY_OPERATIONS: dict[str, Callable[..., mx.array]] = {
    "negative": mx.negative,
    "absolute": mx.abs,
    "square_root": mx.sqrt,
    "exp": _exponential,
    "log": mx.log,
    "not": mx.logical_not,
    "add": mx.add,
    "subtract": mx.subtract,
    "multiply": mx.multiply,
    "divide": mx.divide,
    "maximum": mx.maximum,
    "minimum": mx.minimum,
    "less": mx.less,
    "less_equal": mx.less_equal,
    "greater": mx.greater,
    "greater_equal": mx.greater_equal,
    "equal": mx.equal,
    "same": mx.equal,
    "and": mx.logical_and,
    "or": mx.logical_or,
    "where": mx.where,
    "sum": _reduced(mx.sum),
    "max": _largest,
    "min": _reduced(mx.min),
    "mean": _reduced(mx.mean),
    "log_sum_exp": _log_sum_exp,
    "cumulative_sum": _cumulative_sum,
    "mass_threshold": _mass_threshold,
    "hash": _hash,
    "to_float": _floats,
    "to_integer": _integers,
}
