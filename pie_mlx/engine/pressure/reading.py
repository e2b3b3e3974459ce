"""A system's memory at one moment."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MemoryReading:
    """Total bytes, and the bytes still available under every limit on this process.

    `stalled` is the percentage of the last seconds in which all programs waited for memory. `system_level` is macOS's
    own pressure level: 1 normal, 2 warning, 4 critical. Both are 0 if the system does not report them.
    """

    total_bytes: int
    available_bytes: int
    stalled: float = 0.0
    system_level: int = 0
