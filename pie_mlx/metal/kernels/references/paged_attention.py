"""`paged_attention` in numpy, float64: gather by table, boolean mask, explicit softmax."""

import mlx.core as mx
import numpy as np

from pie_mlx.metal.arrays import DoubleArray, doubles, host_view
from pie_mlx.metal.kernels.attention_rows import AttentionRows
from pie_mlx.metal.kernels.kv_quantised import Pool, QuantisedPool
from pie_mlx.metal.kernels.paged_attention import AttentionOptions
from pie_mlx.metal.kernels.references.kv_quantised import dense
from pie_mlx.metal.runs import BoolArray


def paged_attention(
    queries: mx.array, k_pool: Pool, v_pool: Pool, rows: AttentionRows, options: AttentionOptions
) -> DoubleArray:
    """[rows, query heads, value size]; arguments as the kernel's."""
    values = _gathered(k_pool if options.latent else v_pool, rows)
    weights = _weights(queries, k_pool, v_pool, rows, options)
    return (weights @ values).reshape(*queries.shape[:2], -1)


def page_shares(
    queries: mx.array, k_pool: Pool, v_pool: Pool, rows: AttentionRows, options: AttentionOptions
) -> DoubleArray:
    """What each page has of the softmax of each row, [rows, query heads, pages]."""
    weights = _weights(queries, k_pool, v_pool, rows, options)
    return weights.reshape(*queries.shape[:2], rows.tables.shape[1], -1).sum(-1)


def _weights(
    queries: mx.array, k_pool: Pool, v_pool: Pool, rows: AttentionRows, options: AttentionOptions
) -> DoubleArray:
    """[rows, KV heads, query heads of each, keys]."""
    keys = _gathered(k_pool, rows)
    if options.latent:
        keys = np.concatenate([keys, _gathered(v_pool, rows)], axis=-1)
    count, heads, size = queries.shape
    grouped = doubles(queries).reshape(count, keys.shape[1], heads // keys.shape[1], size)
    scores = options.scale * (grouped @ keys.swapaxes(-1, -2))
    if options.cap > 0:
        scores = options.cap * np.tanh(scores / options.cap)
    visible = visible_keys(rows, keys.shape[2], options.window)[:, None, None]
    sinks = None if options.sinks is None else doubles(options.sinks)
    return _softmax(np.where(visible, scores, -np.inf), visible, sinks)


def visible_keys(rows: AttentionRows, keys: int, window: int) -> BoolArray:
    """Which keys each row sees, [rows, keys]."""
    index = np.arange(keys, dtype=np.int64)[None]
    length = host_view(rows.row_len)[: rows.count, None]
    visible = index < length
    if window:
        visible &= index >= length - window
    if rows.mask_bits is None or rows.row_mask is None:
        return visible
    bits = np.unpackbits(host_view(rows.mask_bits).view(np.uint8), axis=1, bitorder="little")
    masks = np.zeros((len(bits), keys), np.bool_)
    shared = min(keys, bits.shape[1])
    masks[:, :shared] = bits[:, :shared]
    lines = host_view(rows.row_mask)[: rows.count]
    return visible & (masks[np.maximum(lines, 0)] | (lines < 0)[:, None])


def _gathered(pool: Pool, rows: AttentionRows) -> DoubleArray:
    """Keys or values of every row's context, [rows, KV heads, keys, size]."""
    content = dense(pool) if isinstance(pool, QuantisedPool) else doubles(pool)
    pages = content[host_view(rows.tables)[host_view(rows.row_seq)[: rows.count]]]
    return pages.reshape(pages.shape[0], -1, *pages.shape[3:]).swapaxes(1, 2)


def _softmax(scores: DoubleArray, visible: BoolArray, sinks: DoubleArray | None) -> DoubleArray:
    """Softmax over keys with one more, valueless score per query head; rows that see nothing get zeros."""
    top = scores.max(-1, keepdims=True)
    extra = np.zeros_like(top)
    if sinks is not None:
        sink = sinks.reshape(1, scores.shape[1], scores.shape[2], 1)
        top = np.maximum(top, sink)
        extra = np.exp(sink - top)
    top = np.where(np.isfinite(top), top, 0)
    weights = np.where(visible, np.exp(scores - top), 0)
    divisor = weights.sum(-1, keepdims=True) + extra
    return weights / np.where(divisor > 0, divisor, 1)
