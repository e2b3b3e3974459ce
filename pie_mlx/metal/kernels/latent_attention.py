"""Attention of chunks in latent layers: gathers the context's pages, then one product for all query heads.

All heads share a latent layer's keys, so that the rows of a chunk and their heads are the rows of one large matrix.
"""

import mlx.core as mx
import numpy as np

from pie_mlx.metal.arrays import MOST_SCORES, from_host
from pie_mlx.metal.kernels.gathered_attention import gathered_pages
from pie_mlx.metal.kernels.kv_quantised import Pool
from pie_mlx.metal.kernels.paged_attention import AttentionOptions
from pie_mlx.metal.launcher import KernelLauncher

LATENT_ROWS = 9
"""Rows of one context from which this is used. A threadgroup of the paged kernel reads the keys for one row only."""


def latent_attention(
    launcher: KernelLauncher,
    queries: mx.array,
    latents: Pool,
    ropes: Pool,
    pages: list[int],
    length: int,
    options: AttentionOptions,
    fence: mx.array,
) -> tuple[mx.array, mx.array]:
    """Causal attention of the last rows of one context, whose `length` keys lie in `pages`, in order.

    queries: [rows, query heads, latent + rope]; pools: [pages, page size, 1, size]. Returns [rows, query heads, latent]
    and the next fence. Supports no window, cap or sinks.
    """
    *gathered, done = gathered_pages(launcher, latents, ropes, pages, length, fence, queries.dtype)
    values, turned = (part.flatten(0, 2)[:length] for part in gathered)
    keys = mx.concatenate([values, turned], axis=-1).T
    rows, heads, _ = queries.shape
    block = max(1, MOST_SCORES // (heads * length))
    outputs = [
        _attend(queries[start : start + block], keys, values, length - rows + start, options.scale)
        for start in range(0, rows, block)
    ]
    return mx.concatenate(outputs), done


def _attend(queries: mx.array, keys: mx.array, values: mx.array, first: int, scale: float) -> mx.array:
    """Attention of rows [rows, heads, dim], of which the first has `first` keys before its own."""
    rows, heads, _ = queries.shape
    seen = np.arange(keys.shape[1]) <= np.arange(first, first + rows)[:, None]
    scores = mx.unflatten((queries.flatten(0, 1) * scale) @ keys, 0, (rows, heads))
    visible = mx.where(from_host(seen[:, None]), scores, mx.array(-np.inf, scores.dtype))
    return mx.unflatten(mx.softmax(visible, axis=-1, precise=True).flatten(0, 1) @ values, 0, (rows, heads))
