"""`kv_write_quantised` in numpy."""

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.metal.arrays import DoubleArray, FloatArray, floats, host_view, rounded
from pie_mlx.metal.kernels.kv_quantised import Quantisation, QuantisedPool
from pie_mlx.metal.kernels.references.kv_write import scatter_rows

Quantised = tuple[npt.NDArray[np.uint32], FloatArray, FloatArray]
"""Codes [..., size * bits / 32], scales and biases [..., size / group size]."""


def quantise(rows: mx.array, kind: Quantisation) -> Quantised:
    """Codes, scales and biases of rows [..., size]: `code * scale + bias`, scale and bias rounded to the rows' type.

    Our own formula, in float32 as the kernel computes it: `mx.quantize` rounds differently on the CPU and on Metal.
    """
    groups = floats(rows).reshape(*rows.shape[:-1], -1, kind.group_size)
    top = np.float32(2**kind.bits - 1)
    low, high = groups.min(-1, keepdims=True), groups.max(-1, keepdims=True)
    bias, scale = rounded(low, rows.dtype), rounded((high - low) / top, rows.dtype)
    scale = np.where(scale == 0, np.float32(1), scale)
    codes = np.clip(np.rint((groups - bias) / scale), 0, top).astype(np.uint32)
    words = codes.reshape(*rows.shape[:-1], -1, 32 // kind.bits) << np.arange(0, 32, kind.bits, dtype=np.uint32)
    return np.bitwise_or.reduce(words, axis=-1), scale.squeeze(-1), bias.squeeze(-1)


def kv_write_quantised(rows: mx.array, pool: QuantisedPool, slots: mx.array) -> DoubleArray:
    """The decoded pool after the rows are quantised into their slots, [pages, page size, heads, head size]."""
    codes, scales, biases = quantise(rows, pool.quantisation)
    old_codes, old_scales, old_biases = _host(pool)
    return _dense(
        scatter_rows(codes, old_codes, slots),
        scatter_rows(scales, old_scales, slots),
        scatter_rows(biases, old_biases, slots),
        pool.quantisation,
    )


def dense(pool: QuantisedPool) -> DoubleArray:
    """The decoded elements, [pages, page size, heads, head size]."""
    return _dense(*_host(pool), pool.quantisation)


def _host(pool: QuantisedPool) -> Quantised:
    return host_view(pool.codes), floats(pool.scales), floats(pool.biases)


def _dense(codes: npt.NDArray[np.uint32], scales: FloatArray, biases: FloatArray, kind: Quantisation) -> DoubleArray:
    shifts = np.arange(0, 32, kind.bits, dtype=np.uint32)
    parts = (codes[..., None] >> shifts) & np.uint32(2**kind.bits - 1)
    groups = parts.reshape(*scales.shape, kind.group_size).astype(np.float64)
    return (groups * scales[..., None] + biases[..., None]).reshape(*codes.shape[:-1], -1)
