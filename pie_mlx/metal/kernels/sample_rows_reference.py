"""`sample_rows` in MLX operations, with a sort."""

import mlx.core as mx

from pie_mlx.metal.kernels.sample_rows import SamplerRows

GREEDY_TEMPERATURE = 1e-5


def sample_rows(logits: mx.array, rows: SamplerRows) -> tuple[mx.array, mx.array]:
    """Tokens and log-probabilities; arguments as the kernel's."""
    allowed = _allowed(logits, rows)
    masked = mx.where(allowed, logits, -mx.inf)
    greedy = rows.temperature <= GREEDY_TEMPERATURE
    heat = mx.where(greedy, 1.0, rows.temperature)[:, None]
    probabilities = mx.softmax(masked / heat, axis=-1, precise=True)
    kept = mx.where(_kept(probabilities, rows), probabilities, 0)
    # Integer masses: running sums do not depend on their order.
    mass = mx.floor(kept * 2.0**31 + 0.5).astype(mx.uint64)
    running = mx.cumsum(mass, axis=-1)
    target = ((rows.uniform * 2**23).astype(mx.uint64)[:, None] * running[:, -1:]) >> 23
    drawn = mx.sum(running <= target, axis=-1)
    token = mx.where(greedy, mx.argmax(masked, axis=-1), drawn).astype(mx.uint32)
    plain = logits - mx.logsumexp(logits, axis=-1, keepdims=True)
    chosen = mx.take_along_axis(plain, token[:, None].astype(mx.int32), axis=-1)[:, 0]
    return token, chosen


def _allowed(logits: mx.array, rows: SamplerRows) -> mx.array:
    everything = mx.ones(logits.shape, dtype=mx.bool_)
    if rows.mask_bits is None or rows.row_mask is None:
        return everything
    bits = (rows.mask_bits[..., None] >> mx.arange(32, dtype=mx.uint32)) & 1
    dense = bits.flatten(-2)[:, : logits.shape[1]].astype(mx.bool_)
    return dense[mx.maximum(rows.row_mask, 0)] | (rows.row_mask < 0)[:, None]


def _kept(probabilities: mx.array, rows: SamplerRows) -> mx.array:
    """What every filter keeps of each row, bool [rows, vocabulary]; the likeliest token always."""
    order = mx.argsort(-probabilities, axis=-1)
    falling = mx.take_along_axis(probabilities, order, axis=-1)
    rank = mx.arange(probabilities.shape[1])[None]
    k = mx.where(rows.top_k > 0, rows.top_k, probabilities.shape[1])[:, None]
    before = mx.cumsum(falling, axis=-1) - falling
    enough = (before < rows.top_p[:, None]) | (rows.top_p >= 1)[:, None]
    likely = falling >= rows.min_p[:, None] * falling[:, :1]
    keep = ((rank < k) & enough & likely) | (rank == 0)
    return mx.put_along_axis(mx.zeros(keep.shape, mx.bool_), order, keep, axis=-1)
