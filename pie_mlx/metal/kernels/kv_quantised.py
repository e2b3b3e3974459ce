"""Pools of 8- and 4-bit codes: the launcher that quantises new keys and values into them."""

from dataclasses import dataclass

import mlx.core as mx

from pie_mlx.metal.kernels.requirements import at_least, require, require_float, round_up
from pie_mlx.metal.launcher import KernelLauncher
from pie_mlx.metal.quantisation import Quantisation

THREADS = 256


@dataclass(frozen=True, slots=True)
class QuantisedPool:
    """Keys or values of one layer: words uint32 [pages, page size, heads, words of a head]."""

    words: mx.array
    quantisation: Quantisation

    @property
    def head_size(self) -> int:
        return self.quantisation.head_size(self.words.shape[3])


Pool = mx.array | QuantisedPool
"""Keys or values of one layer: [pages, page size, heads, size], or quantised."""


def pool_array(pool: Pool) -> mx.array:
    """The array that holds a pool."""
    return pool.words if isinstance(pool, QuantisedPool) else pool


def elements(pool: Pool, taken: tuple[mx.array, mx.array], dtype: mx.Dtype) -> tuple[mx.array, mx.array]:
    """Keys and values that were copied from a pair of pools like `pool`, decoded if they are quantised."""
    if not isinstance(pool, QuantisedPool):
        return taken
    return pool.quantisation.decode(taken[0], dtype), pool.quantisation.decode(taken[1], dtype)


def kv_write_quantised(
    launcher: KernelLauncher,
    k_new: mx.array,
    v_new: mx.array,
    k_pool: QuantisedPool,
    v_pool: QuantisedPool,
    slots: mx.array,
    fence: mx.array,
) -> mx.array:
    """Quantises k_new [tokens, heads, key size] and v_new into their slots (int32 [tokens or more], -1 for padding).

    Mutates both pools and returns the next fence. Raises InvalidArgumentError for unsupported shapes or types.
    """
    name, kind = "kv_write_quantised", k_pool.quantisation
    require_float(name, k_new.dtype)
    require(kind == v_pool.quantisation, name, f"pools of {kind} and {v_pool.quantisation}")
    for rows, pool in ((k_new, k_pool), (v_new, v_pool)):
        kind.check(name, rows.shape[2])
        require(rows.shape[1:] == (pool.words.shape[2], pool.head_size), name, f"rows {rows.shape} do not fit the pool")
    fits = k_new.shape[0] == v_new.shape[0] <= slots.shape[0]
    require(fits, name, f"{slots.shape} slots for {k_new.shape} and {v_new.shape}")
    rows = {"K_ROW": k_new.shape[1] * k_new.shape[2], "V_ROW": v_new.shape[1] * v_new.shape[2]}
    width = round_up(max(rows.values()) * kind.bits // 32, 32)
    threads = min(width, THREADS)
    sizes = {"DK": k_new.shape[2], "DV": v_new.shape[2], **rows, "BITS": kind.bits, "GROUP": kind.group_size}
    (next_fence,) = launcher.launch(
        name,
        inputs={
            "k_new": k_new,
            "v_new": v_new,
            "k_pool": k_pool.words,
            "v_pool": v_pool.words,
            "slots": at_least(slots, -1),
            "fence_in": fence,
        },
        template={"T": k_new.dtype, **sizes},
        grid=(round_up(width, threads), k_new.shape[0], 1),
        threadgroup=(threads, 1, 1),
        outputs={"fence": ((1,), mx.int32)},
    )
    return next_fence
