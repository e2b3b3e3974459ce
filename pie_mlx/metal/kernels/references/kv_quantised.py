"""`kv_write_quantised` in numpy."""

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.metal.arrays import DoubleArray, floats, host_view
from pie_mlx.metal.kernels.kv_quantised import QuantisedPool
from pie_mlx.metal.kernels.references.kv_write import scatter_rows
from pie_mlx.metal.quantisation import Quantisation

Words = npt.NDArray[np.uint32]


def quantise(rows: mx.array, kind: Quantisation) -> Words:
    """The words of rows [..., size]: codes, then scale and bias of each group in float16, [..., words].

    Our own formula, in float32 as the kernel computes it: `mx.quantize` rounds differently on the CPU and on Metal.
    """
    groups = floats(rows).reshape(*rows.shape[:-1], -1, kind.group_size)
    top, largest = np.float32(2**kind.bits - 1), np.float32(65504)
    low, high = groups.min(-1), groups.max(-1)
    bias = np.clip(low, -largest, largest).astype(np.float16)
    scale = np.minimum((high - low) / top, largest).astype(np.float16)
    scale = np.where(scale == 0, np.float16(1), scale)
    wide_bias, wide_scale = (array.astype(np.float32)[..., None] for array in (bias, scale))
    codes = np.clip(np.rint((groups - wide_bias) / wide_scale), 0, top).astype(np.uint32)
    parts = codes.reshape(*rows.shape[:-1], -1, 32 // kind.bits) << np.arange(0, 32, kind.bits, dtype=np.uint32)
    pairs = scale.view(np.uint16).astype(np.uint32) | bias.view(np.uint16).astype(np.uint32) << np.uint32(16)
    return np.concatenate([np.bitwise_or.reduce(parts, axis=-1), pairs], axis=-1)


def kv_write_quantised(rows: mx.array, pool: QuantisedPool, slots: mx.array) -> Words:
    """One pool's words after the rows are quantised into their slots."""
    return scatter_rows(quantise(rows, pool.quantisation), host_view(pool.words), slots)


def dense(pool: QuantisedPool) -> DoubleArray:
    """The decoded elements, [pages, page size, heads, head size]."""
    words, kind = host_view(pool.words), pool.quantisation
    count = pool.head_size * kind.bits // 32
    shifts = np.arange(0, 32, kind.bits, dtype=np.uint32)
    codes = (words[..., :count, None] >> shifts) & np.uint32(2**kind.bits - 1)
    groups = codes.reshape(*words.shape[:-1], -1, kind.group_size).astype(np.float64)
    scale, bias = (
        ((words[..., count:] >> np.uint32(shift)) & np.uint32(0xFFFF)).astype(np.uint16).view(np.float16)
        for shift in (0, 16)
    )
    decoded = groups * scale.astype(np.float64)[..., None] + bias.astype(np.float64)[..., None]
    return decoded.reshape(*words.shape[:-1], -1)
