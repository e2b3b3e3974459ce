"""What attention in MLX operations leaves to the device."""

import mlx.core as mx


class Numerics:
    """The plain way: MLX's own attention where it can, else one product per group."""

    def avoids_exponentials(self, rows: int, keys: mx.array) -> bool:
        """Whether `rows` rows of single tokens over `keys` [.., keys, dim] are better computed by powers of two."""
        del rows, keys
        return False

    def scores(self, queries: mx.array, keys: mx.array) -> mx.array:
        """`queries` [rows, kv_heads, m, dim] times `keys` [rows, kv_heads, keys, dim], [rows, kv_heads, m, keys]."""
        return queries.astype(keys.dtype) @ keys.swapaxes(-1, -2)
