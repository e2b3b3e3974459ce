"""Predicted decode times from counted bytes and published memory bandwidths."""

from collections.abc import Iterator
from dataclasses import dataclass

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
        """The least time the step can take on the chip: bytes over bandwidth, nothing else counted."""
        return self.bytes / chip.bytes_per_second


def predictions(loads: list[DecodeLoad]) -> Iterator[tuple[Chip, list[float]]]:
    """Every chip with the seconds of every load."""
    for chip in CHIPS:
        yield chip, [load.seconds(chip) for load in loads]
