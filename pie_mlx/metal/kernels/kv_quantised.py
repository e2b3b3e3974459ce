"""Pools of 8- and 4-bit codes: their layout, and the launcher that quantises new rows."""

# MLX's stubs leave variable arguments untyped.
# pyright: reportUnknownMemberType=false

from dataclasses import dataclass

import mlx.core as mx

from pie_mlx.metal.kernels.requirements import at_least, require, require_float, round_up
from pie_mlx.metal.launcher import KernelLauncher

THREADS = 256


@dataclass(frozen=True, slots=True)
class Quantisation:
    """Bits per element, and how many neighbours along the head share a scale and a bias."""

    bits: int
    group_size: int

    def check(self, kernel: str, head_size: int) -> None:
        """Raises InvalidArgumentError for a layout that the kernels cannot read."""
        require(self.bits in (4, 8), kernel, f"{self.bits}-bit pages", "use 4 or 8 bits")
        require(self.group_size in (32, 64), kernel, f"groups of {self.group_size}", "use 32 or 64")
        divides = head_size % self.group_size == 0
        require(divides, kernel, f"groups of {self.group_size} do not divide the head size {head_size}")

    def bytes_per_element(self, dtype: mx.Dtype) -> float:
        """Bytes of an element, with its share of scale and bias."""
        return self.bits / 8 + 2 * dtype.size / self.group_size


@dataclass(frozen=True, slots=True)
class QuantisedPool:
    """Keys or values of one layer: codes uint32 [pages, page size, heads, head size * bits / 32], scales and biases
    [pages, page size, heads, head size / group size]."""

    codes: mx.array
    scales: mx.array
    biases: mx.array
    quantisation: Quantisation

    @property
    def head_size(self) -> int:
        return self.codes.shape[3] * 32 // self.quantisation.bits

    def dense(self) -> mx.array:
        """The decoded elements, float32 [pages, page size, heads, head size]."""
        kind = self.quantisation
        scales, biases = self.scales.astype(mx.float32), self.biases.astype(mx.float32)
        return mx.dequantize(self.codes, scales, biases, group_size=kind.group_size, bits=kind.bits)


def empty_quantised_pool(
    pages: int, page_size: int, heads: int, head_size: int, dtype: mx.Dtype, quantisation: Quantisation
) -> QuantisedPool:
    """A pool of zeros, evaluated."""
    quantisation.check("quantised pool", head_size)
    slots = (pages, page_size, heads)
    codes = mx.zeros((*slots, head_size * quantisation.bits // 32), mx.uint32)
    scales = mx.ones((*slots, head_size // quantisation.group_size), dtype)
    biases = mx.zeros(scales.shape, dtype)
    mx.eval(codes, scales, biases)
    return QuantisedPool(codes, scales, biases, quantisation)


def kv_write_quantised(
    launcher: KernelLauncher, rows: mx.array, pool: QuantisedPool, slots: mx.array, fence: mx.array
) -> mx.array:
    """Quantises rows [tokens, heads, head size] into their slots (int32 [tokens or more], -1 for padding).

    Mutates the pool and returns the next fence. Raises InvalidArgumentError for unsupported shapes or types.
    """
    name, kind = "kv_write_quantised", pool.quantisation
    require_float(name, rows.dtype)
    kind.check(name, rows.shape[2])
    require(rows.shape[1:] == (pool.codes.shape[2], pool.head_size), name, f"rows {rows.shape} do not fit the pool")
    require(slots.shape[0] >= rows.shape[0], name, f"{slots.shape} slots for {rows.shape[0]} rows")
    row = rows.shape[1] * rows.shape[2]
    width = round_up(row * kind.bits // 32, 32)
    threads = min(width, THREADS)
    (next_fence,) = launcher.launch(
        name,
        inputs={
            "new_rows": rows,
            "codes": pool.codes,
            "scales": pool.scales,
            "biases": pool.biases,
            "slots": at_least(slots, -1),
            "fence_in": fence,
        },
        template={"T": rows.dtype, "ROW": row, "BITS": kind.bits, "GROUP": kind.group_size},
        grid=(round_up(width, threads), rows.shape[0], 1),
        threadgroup=(threads, 1, 1),
        outputs={"fence": ((1,), mx.int32)},
    )
    return next_fence
