"""Attention of long chunks: gathers the context's pages, then uses MLX's own attention with its tuned matrix
kernels."""

from functools import lru_cache
from typing import Any, cast

import mlx.core as mx
import numpy as np

from pie_mlx.metal.arrays import from_host
from pie_mlx.metal.kernels.kv_quantised import Pool, elements, pool_array
from pie_mlx.metal.kernels.page_moves import page_gather
from pie_mlx.metal.kernels.paged_attention import AttentionOptions
from pie_mlx.metal.launcher import KernelLauncher

_MASKS = 4
"""Masks to cache: the layers of a step need one or two."""


def gathered_attention(
    launcher: KernelLauncher,
    queries: mx.array,
    k_pool: Pool,
    v_pool: Pool,
    pages: list[int],
    length: int,
    options: AttentionOptions,
    fence: mx.array,
) -> tuple[mx.array, mx.array]:
    """Causal attention of the last rows of one context, whose `length` keys lie in `pages`, in order.

    queries: [rows, query heads, key size]. Returns [rows, query heads, value size] and the next fence. Does not support
    a cap.
    """
    keys, values, done = gathered_pages(launcher, k_pool, v_pool, pages, length, fence, queries.dtype)
    out = mx.fast.scaled_dot_product_attention(
        queries.swapaxes(0, 1)[None],
        _heads_first(keys, length),
        _heads_first(values, length),
        scale=options.scale,
        mask=cast("Any", _mask(queries.shape[0], length, options.window)),
        sinks=cast("Any", None if options.sinks is None else options.sinks.astype(queries.dtype)),
    )
    return out[0].swapaxes(0, 1), done


def gathered_pages(
    launcher: KernelLauncher,
    k_pool: Pool,
    v_pool: Pool,
    pages: list[int],
    length: int,
    fence: mx.array,
    dtype: mx.Dtype,
) -> tuple[mx.array, mx.array, mx.array]:
    """Elements of the pages that hold `length` keys, [pages, page size, heads, size] for K and V; and the next
    fence."""
    page_size = pool_array(k_pool).shape[1]
    valid = [min(page_size, length - index * page_size) for index in range(len(pages))]
    *taken, done = page_gather(launcher, pool_array(k_pool), pool_array(v_pool), pages, valid, fence)
    return *elements(k_pool, (taken[0], taken[1]), dtype), done


def _heads_first(pages: mx.array, length: int) -> mx.array:
    """[pages, page size, heads, size] as [1, heads, length, size]."""
    return pages.flatten(0, 1)[:length].swapaxes(0, 1)[None]


@lru_cache(_MASKS)
def _mask(rows: int, length: int, window: int) -> mx.array | str:
    if window == 0 or length <= window:
        return "causal"
    own = np.arange(length - rows, length)[:, None]
    key = np.arange(length)[None]
    return from_host((key <= own) & (key > own - window))
