"""Values looked up by token id: rows [rows, width] of the vocabulary, or of candidates with their ids `chosen`."""

import mlx.core as mx

from pie_mlx.metal.arrays import largest_at


def at_tokens(row: mx.array, ids: mx.array) -> mx.array:
    """`row` [rows, vocabulary] at `ids` [rows, any] int32; its smallest value for an id outside the vocabulary."""
    vocabulary = row.shape[-1]
    row = mx.broadcast_to(row, (ids.shape[0], vocabulary))
    found = mx.take_along_axis(row, mx.clip(ids, 0, vocabulary - 1), axis=-1)
    return mx.where((ids >= 0) & (ids < vocabulary), found, mx.min(row, axis=-1, keepdims=True))


def at_token(row: mx.array, token: mx.array, chosen: mx.array | None) -> mx.array:
    """`row` at one `token` [rows, 1]; its smallest value for one that is not in it."""
    if chosen is None:
        return at_tokens(row, mx.broadcast_to(token, (max(row.shape[0], token.shape[0]), 1)))
    lowest = mx.min(row, axis=-1, keepdims=True)
    return mx.max(mx.where(chosen == token, row, lowest), axis=-1, keepdims=True)


def gather(row: mx.array, ids: mx.array, chosen: mx.array | None) -> mx.array:
    """`row` at the id of each token; its smallest value for ids that no token of it has."""
    row, ids = mx.broadcast_arrays(row, ids)
    if chosen is None:
        return at_tokens(row, ids)
    lowest = mx.min(row, axis=-1, keepdims=True)[:, None]
    return mx.max(mx.where(ids[:, :, None] == chosen[:, None], row[:, None], lowest), axis=-1)


def scatter(values: mx.array, ids: mx.array, otherwise: mx.array, chosen: mx.array | None, vocabulary: int) -> mx.array:
    """For each token the largest of `values` whose id it is, `otherwise` where none is; other ids go nowhere.

    Largest, because a GPU adds in no order, so that sums would differ from run to run.
    """
    values, ids = mx.broadcast_arrays(values, ids)
    if chosen is not None:
        sent = ids[:, None] == chosen[:, :, None]
        return mx.where(mx.any(sent, axis=-1), mx.max(mx.where(sent, values[:, None], -mx.inf), axis=-1), otherwise)
    places = mx.where((ids >= 0) & (ids < vocabulary), ids, vocabulary)
    largest = largest_at(mx.full((values.shape[0], vocabulary + 1), -mx.inf), places, values)[:, :vocabulary]
    return mx.where(largest > -mx.inf, largest, otherwise)
