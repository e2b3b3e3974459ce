"""The least bytes each kernel can move, and decode times predicted from bytes and published memory bandwidths."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pie_mlx.metal.kernels.paged_attention import PARTITION, PoolShape

INDEX_BYTES = 4


def kv_write_floor(tokens: int, shape: PoolShape, element_bytes: int) -> int:
    """Each new key and value is read once and written once."""
    return 2 * tokens * shape.heads * (shape.key_size + shape.value_size) * element_bytes


def page_copy_floor(rows: Sequence[int], shape: PoolShape, element_bytes: int) -> int:
    """The valid rows are read once and written once."""
    return kv_write_floor(sum(rows), shape, element_bytes)


def visible(length: int, window: int) -> int:
    """Keys that a row sees."""
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
    """Attention of windows of rows. Each window is given by the lengths of its rows in ascending order.

    Counts the keys and values that any row of a window sees, once; queries and results; the block table; and for
    contexts longer than a part the partial results, written and read. `key_bytes` is per element of the pool,
    `element_bytes` if None.
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
    """Each adapter in use is read once, plus the rows in and the additions out."""
    return (adapters * rank * (width + out) + tokens * (width + out)) * element_bytes


GIGA = 1e9


@dataclass(frozen=True, slots=True)
class Chip:
    """An Apple chip and its published memory bandwidth in bytes per second."""

    name: str
    bytes_per_second: float


CHIPS = tuple(
    Chip(name, gigabytes * GIGA)
    for name, gigabytes in (
        ("M1", 68),
        ("M1 Max", 400),
        ("M1 Ultra", 800),
        ("M2", 100),
        ("M2 Max", 400),
        ("M2 Ultra", 800),
        ("M3", 100),
        ("M3 Max", 400),
        ("M3 Ultra", 819),
        ("M4", 120),
        ("M4 Max", 546),
        ("M5", 153),
        ("M5 Max", 614),
    )
)
"""Published figures. An M4 Ultra does not exist; of an M5 Ultra no figure is confirmed."""


@dataclass(frozen=True, slots=True)
class DecodeLoad:
    """One decode step: weights are read once, keys and values once per row."""

    name: str
    weight_bytes: float
    kv_bytes_per_row: float
    rows: int

    @property
    def bytes(self) -> float:
        return self.weight_bytes + self.rows * self.kv_bytes_per_row

    def seconds(self, chip: Chip) -> float:
        """The least time of the step on the chip: bytes divided by bandwidth, nothing else."""
        return self.bytes / chip.bytes_per_second


def predictions(loads: list[DecodeLoad]) -> Iterator[tuple[Chip, list[float]]]:
    """Each chip with the seconds of each load."""
    for chip in CHIPS:
        yield chip, [load.seconds(chip) for load in loads]
