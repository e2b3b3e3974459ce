"""The parts of attention in MLX operations that depend on the device."""

import mlx.core as mx


class Numerics:
    """The default: MLX's own attention if possible, else one product per group."""

    def avoids_exponentials(self, rows: int, keys: mx.array) -> bool:
        """Whether powers of two are faster for `rows` rows of single tokens over `keys` [.., keys, dim]."""
        del rows, keys
        return False

    def scores(self, queries: mx.array, keys: mx.array) -> mx.array:
        """`queries` [rows, kv_heads, m, dim] times `keys` [rows, kv_heads, keys, dim], [rows, kv_heads, m, keys]."""
        return queries.astype(keys.dtype) @ keys.swapaxes(-1, -2)
