"""`kv_write` in MLX operations."""

# MLX's stubs leave variable arguments untyped.
# pyright: reportUnknownMemberType=false

import mlx.core as mx


def kv_write(
    k_new: mx.array, v_new: mx.array, k_pool: mx.array, v_pool: mx.array, slots: mx.array
) -> tuple[mx.array, mx.array]:
    """The two pools with the new rows in their slots; rows with slot -1 are dropped. Shapes as the kernel's."""
    return scatter_rows(k_new, k_pool, slots), scatter_rows(v_new, v_pool, slots)


def scatter_rows(rows: mx.array, pool: mx.array, slots: mx.array) -> mx.array:
    """A pool [pages, page size, ...] with rows [tokens, ...] written to `slots` [tokens]."""
    flat = pool.reshape(pool.shape[0] * pool.shape[1], *pool.shape[2:])
    wide = slots.reshape(-1, *([1] * (rows.ndim - 1)))
    # Padding rows go to an extra slot that is cut off again.
    target = mx.where(slots >= 0, slots, flat.shape[0])
    padded = mx.concatenate([flat, mx.zeros((1, *flat.shape[1:]), flat.dtype)])
    padded[target] = mx.where(wide >= 0, rows, 0).astype(pool.dtype)
    return padded[:-1].reshape(pool.shape)
