"""`paged_attention` in MLX operations: gather by table, boolean mask, explicit softmax in float32."""

# MLX's stubs leave variable arguments untyped.
# pyright: reportUnknownMemberType=false

import mlx.core as mx

from pie_mlx.metal.kernels.attention_rows import AttentionRows
from pie_mlx.metal.kernels.kv_quantised import QuantisedPool
from pie_mlx.metal.kernels.paged_attention import AttentionOptions, Pool


def paged_attention(
    queries: mx.array, k_pool: Pool, v_pool: Pool, rows: AttentionRows, options: AttentionOptions
) -> mx.array:
    """[rows, query heads, value size] in the type of the queries; arguments as the kernel's."""
    keys = _gathered(k_pool, rows)
    values = _gathered(v_pool, rows)
    count, heads, size = queries.shape
    grouped = queries.astype(mx.float32).reshape(count, keys.shape[1], heads // keys.shape[1], size)
    scores = options.scale * (grouped @ keys.swapaxes(-1, -2))
    if options.cap > 0:
        scores = options.cap * mx.tanh(scores / options.cap)
    visible = visible_keys(rows, keys.shape[2], options.window)[:, None, None]
    scores = mx.where(visible, scores, -mx.inf)
    weights = _softmax(scores, visible, options.sinks)
    return (weights @ values).reshape(count, heads, -1).astype(queries.dtype)


def _gathered(pool: Pool, rows: AttentionRows) -> mx.array:
    """Keys or values of every row's context, float32 [rows, KV heads, keys, size]."""
    dense = pool.dense() if isinstance(pool, QuantisedPool) else pool
    pages = dense[rows.tables[rows.row_seq[: rows.count]]]
    return pages.flatten(1, 2).swapaxes(1, 2).astype(mx.float32)


def visible_keys(rows: AttentionRows, keys: int, window: int) -> mx.array:
    """Which keys each row sees, bool [rows, keys]."""
    index = mx.arange(keys)[None]
    length = rows.row_len[: rows.count, None]
    visible = index < length
    if window:
        visible = visible & (index >= length - window)
    if rows.mask_bits is None or rows.row_mask is None:
        return visible
    bits = (rows.mask_bits[..., None] >> mx.arange(32, dtype=mx.uint32)) & 1
    dense = bits.flatten(-2).astype(mx.bool_)
    missing = keys - dense.shape[1]
    dense = mx.pad(dense, [(0, 0), (0, missing)]) if missing > 0 else dense[:, :keys]
    lines = rows.row_mask[: rows.count]
    masked = dense[mx.maximum(lines, 0)] | (lines < 0)[:, None]
    return visible & masked


def _softmax(scores: mx.array, visible: mx.array, sinks: mx.array | None) -> mx.array:
    """Softmax over keys with one more, valueless score per query head; rows that see nothing get zeros."""
    top = scores.max(-1, keepdims=True)
    extra = mx.zeros_like(top)
    if sinks is not None:
        sink = sinks.astype(mx.float32).reshape(1, scores.shape[1], scores.shape[2], 1)
        top = mx.maximum(top, sink)
        extra = mx.exp(sink - top)
    weights = mx.where(visible, mx.exp(scores - top), 0)
    divisor = weights.sum(-1, keepdims=True) + extra
    return weights / mx.where(divisor > 0, divisor, 1)
