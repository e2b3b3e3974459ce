"""The least device bytes each kernel can move: what measured traffic is compared with."""

from collections.abc import Sequence

from pie_mlx.metal.kernels.paged_attention import PARTITION, PoolShape

INDEX_BYTES = 4


def kv_write_floor(tokens: int, shape: PoolShape, element_bytes: int) -> int:
    """Every new key and value read once and written once."""
    return 2 * tokens * shape.heads * (shape.key_size + shape.value_size) * element_bytes


def page_copy_floor(rows: Sequence[int], shape: PoolShape, element_bytes: int) -> int:
    """The valid rows read once and written once."""
    return kv_write_floor(sum(rows), shape, element_bytes)


def visible(length: int, window: int) -> int:
    """Keys a row sees."""
    return min(length, window) if window else length


def attention_floor(
    contexts: Sequence[Sequence[int]],
    query_heads: int,
    shape: PoolShape,
    element_bytes: int,
    *,
    window: int = 0,
    key_bytes: float | None = None,
) -> float:
    """Attention of windows of rows, each given by the lengths of its rows in ascending order.

    Keys and values that any row of a window sees once, queries and results, the table, and for contexts longer than a
    part the partial results written and read. `key_bytes` per element of the pool, `element_bytes` if None.
    """
    element = element_bytes if key_bytes is None else key_bytes
    total = 0.0
    longest = max(length for lengths in contexts for length in lengths)
    for lengths in contexts:
        first = min(length - visible(length, window) for length in lengths)
        keys = max(lengths) - first
        total += keys * shape.heads * (shape.key_size + shape.value_size) * element
        total += len(lengths) * query_heads * (shape.key_size + shape.value_size) * element_bytes
        total += INDEX_BYTES * -(-keys // shape.page_size)
        if longest > PARTITION:
            parts = sum(-(-length // PARTITION) - (length - visible(length, window)) // PARTITION for length in lengths)
            total += 2 * 4 * parts * query_heads * (shape.value_size + 2)
    return total


def lora_floor(tokens: int, adapters: int, width: int, rank: int, out: int, element_bytes: int) -> int:
    """Each adapter in use read once, rows in and additions out."""
    return (adapters * rank * (width + out) + tokens * (width + out)) * element_bytes
