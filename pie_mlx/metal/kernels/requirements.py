"""Checks and arithmetic that launchers share."""

# MLX's stubs leave variable arguments untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Sequence
from functools import cache

import mlx.core as mx

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.metal.emulator.launch import THREADGROUP_MEMORY_BYTES

FLOAT_TYPES = (mx.float16, mx.bfloat16, mx.float32)
SMALLEST_BUFFER = 8
"""MLX puts arrays with fewer elements into another address space; helpers that take pointers need at least this
many."""


def require(condition: bool, kernel: str, reason: str, hint: str = "") -> None:
    """Raises InvalidArgumentError `kernel: reason` unless the condition holds."""
    if not condition:
        raise InvalidArgumentError(f"{kernel}: {reason}", hint=hint)


def require_float(kernel: str, dtype: mx.Dtype) -> None:
    """Raises InvalidArgumentError unless pages of this type are supported."""
    require(dtype in FLOAT_TYPES, kernel, f"no kernel for {dtype}", "use float16, bfloat16 or float32")


def require_threadgroup_memory(kernel: str, bytes_used: int) -> None:
    """Raises InvalidArgumentError if a threadgroup needs more memory than any Apple GPU has."""
    require(
        bytes_used <= THREADGROUP_MEMORY_BYTES,
        kernel,
        f"{bytes_used} bytes of threadgroup memory, {THREADGROUP_MEMORY_BYTES} are available",
        "use a smaller tile, or MLX operations",
    )


def round_up(value: int, multiple: int) -> int:
    """The smallest multiple that is at least `value`."""
    return -(-value // multiple) * multiple


def padded(values: Sequence[int], fill: int = 0) -> mx.array:
    """Integers as int32, padded to a small buffer: one specialisation serves every batch size."""
    missing = SMALLEST_BUFFER - len(values)
    return mx.array([*values, *([fill] * missing)], dtype=mx.int32)


def at_least(array: mx.array, fill: int = 0) -> mx.array:
    """A one-dimensional array, padded to a small buffer if shorter."""
    missing = SMALLEST_BUFFER - array.size
    if missing <= 0:
        return array
    return mx.concatenate([array, mx.full((missing,), fill, array.dtype)])


@cache
def placeholder(dtype: mx.Dtype) -> mx.array:
    """The array bound for an input that a specialisation does not use."""
    array = mx.zeros((SMALLEST_BUFFER,), dtype)
    mx.eval(array)
    return array


@cache
def first_fence() -> mx.array:
    """The fence before the first kernel on a pool, int32 [1]."""
    fence = mx.zeros((1,), mx.int32)
    mx.eval(fence)
    return fence
