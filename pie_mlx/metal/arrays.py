"""Typed doors to MLX functions whose stubs are incomplete."""

import functools
from collections.abc import Callable
from typing import Any, cast

import mlx.core as mx
import numpy as np
import numpy.typing as npt

evaluate = cast("Callable[..., None]", getattr(mx, "eval"))  # noqa: B009 - its stub lacks parameter types
"""Computes arrays, or nested lists of them, and waits for the result."""

begin_evaluation = cast("Callable[..., None]", getattr(mx, "async_eval"))  # noqa: B009 - its stub lacks types
"""Starts to compute arrays and returns at once."""

MOST_SCORES = 1 << 24
"""Attention scores computed at once: 64 MiB in float32. This bounds the memory of a long chunk."""


def from_host(values: npt.NDArray[Any]) -> mx.array:
    """A host array on the device, same shape and dtype."""
    return mx.array(cast("Any", values))


def integers(values: npt.ArrayLike) -> mx.array:
    """Integers as int32."""
    return from_host(np.asarray(values, np.int32))


def largest_at(target: mx.array, places: mx.array, values: mx.array) -> mx.array:
    """`target` [rows, width], where each of `values` [rows, any] raises what is at its place, int32 [rows, any]."""
    rows = mx.arange(target.shape[0])[:, None]
    return cast("Any", target.at[rows, places]).maximum(values)


def index_of(places: npt.NDArray[np.int64]) -> mx.array | slice:
    """`places` as an index: a slice if they ascend evenly, because a slice is the cheapest to write."""
    if not len(places):
        return slice(0, 0)
    steps = np.diff(places)
    step = int(steps[0]) if len(steps) else 1
    if step < 1 or (steps != step).any():
        return integers(places)
    return slice(int(places[0]), int(places[-1]) + 1, step)


def host_view(array: mx.array) -> npt.NDArray[Any]:
    """The memory of an evaluated array, readable and writable while nothing computes with it; bfloat16 as uint16."""
    return np.asarray(cast("Any", array.view(mx.uint16) if array.dtype == mx.bfloat16 else array))


@functools.cache
def shares_memory(dtype: mx.Dtype) -> bool:
    """Whether the device reads what the host writes to a view of an array: on a CPU, and where memory is unified."""
    array = mx.zeros((2,), dtype)
    evaluate(array)
    try:
        host_view(array)[...] = 1
    except (BufferError, RuntimeError, TypeError, ValueError):
        return False
    return bool((to_host(mx.concatenate([array, array])) == 1).all())


def to_host(array: mx.array) -> npt.NDArray[Any]:
    """A copy on the host; bfloat16, which numpy lacks, as its uint16 bits."""
    return np.array(cast("Any", array.view(mx.uint16) if array.dtype == mx.bfloat16 else array))


FloatArray = npt.NDArray[np.float32]
DoubleArray = npt.NDArray[np.float64]


def floats(array: mx.array) -> FloatArray:
    """A copy on the host as float32, which holds float16 and bfloat16 exactly."""
    return np.array(cast("Any", array.astype(mx.float32)))


def doubles(array: mx.array) -> DoubleArray:
    """A copy on the host as float64."""
    return floats(array).astype(np.float64)


def rounded(values: FloatArray, dtype: mx.Dtype) -> FloatArray:
    """`values` rounded to `dtype`. On the CPU, whose conversions round to even."""
    with mx.stream(mx.cpu):
        return floats(from_host(values).astype(dtype))
