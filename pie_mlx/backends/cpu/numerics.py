"""Attention by the operations that MLX's CPU backend and OpenBLAS are fast in."""

import mlx.core as mx

from pie_mlx.metal.numerics import Numerics

MANY_SCORES = 1 << 13
"""Scores of single tokens whose exponentials take longer than the additional operations that avoid them."""

IN_PLACE = 1 << 10
"""Results of a product up to which OpenBLAS, with AVX-512, reads a matrix where it lies instead of copying it first."""

BLOCK = 1 << 8
"""Keys that are multiplied at once where a head has more scores than that."""


class CpuNumerics(Numerics):
    """Powers of two for many scores: MLX's exp takes 2.5 times as long. Blocks of keys that OpenBLAS does not copy."""

    def avoids_exponentials(self, rows: int, keys: mx.array) -> bool:
        """Where it is not the number of operations that decides how long it takes.

        Never for float16, in which the sum of many values before it is divided may be too large a number.
        """
        return keys.dtype != mx.float16 and rows * keys.shape[2] >= MANY_SCORES

    def scores(self, queries: mx.array, keys: mx.array) -> mx.array:
        """`queries` [rows, kv_heads, m, dim] times `keys` [rows, kv_heads, keys, dim], block by block."""
        few, length = queries.shape[2], keys.shape[2]
        if few * BLOCK > IN_PLACE or few * length <= IN_PLACE:
            return super().scores(queries, keys)
        queries, whole = queries.astype(keys.dtype), length - length % BLOCK
        blocks = mx.unflatten(keys[:, :, :whole], 2, (-1, BLOCK)).swapaxes(-1, -2)
        scores = (queries[:, :, None] @ blocks).swapaxes(2, 3).flatten(3, 4)
        return mx.concatenate([scores, queries @ keys[:, :, whole:].swapaxes(-1, -2)], axis=-1)
