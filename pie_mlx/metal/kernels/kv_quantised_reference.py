"""`kv_write_quantised` in MLX operations."""

# MLX's stubs leave variable arguments untyped.
# pyright: reportUnknownMemberType=false

import mlx.core as mx

from pie_mlx.metal.kernels.kv_quantised import Quantisation, QuantisedPool
from pie_mlx.metal.kernels.kv_write_reference import scatter_rows


def quantise(rows: mx.array, kind: Quantisation) -> tuple[mx.array, mx.array, mx.array]:
    """Codes, scales and biases of rows [..., size]: `code * scale + bias`, scale and bias rounded to the rows' type.

    Our own formula: `mx.quantize` rounds differently on the CPU and on Metal.
    """
    groups = rows.astype(mx.float32).reshape(*rows.shape[:-1], -1, kind.group_size)
    top = float(2**kind.bits - 1)
    low, high = groups.min(-1, keepdims=True), groups.max(-1, keepdims=True)
    bias = low.astype(rows.dtype)
    scale = ((high - low) / top).astype(rows.dtype)
    scale = mx.where(scale.astype(mx.float32) == 0, mx.ones_like(scale), scale)
    wide = mx.round((groups - bias.astype(mx.float32)) / scale.astype(mx.float32))
    codes = mx.clip(wide, 0, top).astype(mx.uint32).reshape(*rows.shape[:-1], -1, 32 // kind.bits)
    shifts = mx.arange(0, 32, kind.bits, dtype=mx.uint32)
    return mx.sum(codes << shifts, axis=-1).astype(mx.uint32), scale.squeeze(-1), bias.squeeze(-1)


def kv_write_quantised(rows: mx.array, pool: QuantisedPool, slots: mx.array) -> QuantisedPool:
    """The pool with the rows quantised into their slots."""
    codes, scales, biases = quantise(rows, pool.quantisation)
    return QuantisedPool(
        scatter_rows(codes, pool.codes, slots),
        scatter_rows(scales, pool.scales, slots),
        scatter_rows(biases, pool.biases, slots),
        pool.quantisation,
    )
