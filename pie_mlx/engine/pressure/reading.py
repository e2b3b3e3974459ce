"""What a system tells of its memory at one moment."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MemoryReading:
    """Bytes that programs may still take of the bytes there are, under every limit that holds for this process.

    `stalled` is the share of the last seconds, in percent, in which all programs waited for memory; `system_level` is
    the pressure that macOS itself tells: 1 normal, 2 warning, 4 critical. Both are 0 where the system does not tell.
    """

    total_bytes: int
    available_bytes: int
    stalled: float = 0.0
    system_level: int = 0
