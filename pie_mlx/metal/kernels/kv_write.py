"""Writes new keys and values into the pool's pages, in place."""

import mlx.core as mx

from pie_mlx.metal.kernels.requirements import at_least, require, require_float, round_up
from pie_mlx.metal.launcher import KernelLauncher

THREADS = 256


def kv_write(
    launcher: KernelLauncher,
    k_new: mx.array,
    v_new: mx.array,
    k_pool: mx.array,
    v_pool: mx.array,
    slots: mx.array,
    fence: mx.array,
) -> mx.array:
    """Writes k_new [tokens, heads, key size] and v_new into the pools [pages, page size, heads, size].

    slots: int32 [tokens or more], page * page size + offset, -1 for padding; fence: int32 [1] of the last kernel on
    these pools. Mutates both pools and returns the next fence. Raises InvalidArgumentError for shapes or types that
    differ.
    """
    require_float("kv_write", k_new.dtype)
    require(k_new.shape[1:] == k_pool.shape[2:], "kv_write", f"keys {k_new.shape} for a pool {k_pool.shape}")
    require(v_new.shape[1:] == v_pool.shape[2:], "kv_write", f"values {v_new.shape} for a pool {v_pool.shape}")
    fits = k_new.shape[0] == v_new.shape[0] <= slots.shape[0]
    require(fits, "kv_write", f"{slots.shape} slots for {k_new.shape} and {v_new.shape}")
    rows = {"K_ROW": k_new.shape[1] * k_new.shape[2], "V_ROW": v_new.shape[1] * v_new.shape[2]}
    require(all(row % 4 == 0 for row in rows.values()), "kv_write", f"rows of {rows} are not multiples of 4")
    width = round_up(max(rows.values()) // 4, 32)
    threads = width if width <= THREADS else THREADS
    (next_fence,) = launcher.launch(
        "kv_write",
        inputs={
            "k_new": k_new,
            "v_new": v_new,
            "k_pool": k_pool,
            "v_pool": v_pool,
            "slots": at_least(slots, -1),
            "fence_in": fence,
        },
        template={"T": k_new.dtype, **rows},
        grid=(round_up(width, threads), k_new.shape[0], 1),
        threadgroup=(threads, 1, 1),
        outputs={"fence": ((1,), mx.int32)},
    )
    return next_fence
