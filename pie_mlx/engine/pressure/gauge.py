"""Turns readings into a level that does not oscillate."""

from enum import IntEnum

from pie_mlx.engine.pressure.readings import MemoryReading

SCARCE, NONE_LEFT = 0.08, 0.03
"""Shares of available memory below which it is short: warning, and critical."""

STALLED_PERCENT, STUCK_PERCENT = 10.0, 40.0
"""Percent of time in which all programs wait for memory, above which it is short: warning, and critical."""

CALM_READINGS = 5
"""Consecutive better readings before the level falls."""


class Level(IntEnum):
    """How short memory is."""

    NORMAL = 0
    WARNING = 1
    CRITICAL = 2


def level_of(reading: MemoryReading) -> Level:
    """The level of one reading. If the system reports a level, as macOS does, that one counts."""
    if reading.system_level:
        return {1: Level.NORMAL, 2: Level.WARNING}.get(reading.system_level, Level.CRITICAL)
    share = reading.available_bytes / max(1, reading.total_bytes)
    if share < NONE_LEFT or reading.stalled >= STUCK_PERCENT:
        return Level.CRITICAL
    return Level.WARNING if share < SCARCE or reading.stalled >= STALLED_PERCENT else Level.NORMAL


class Gauge:
    """Follows readings: rises at once; after CALM_READINGS lower ones in a row, falls to the highest of these."""

    def __init__(self) -> None:
        self.level = Level.NORMAL
        self._lower: list[Level] = []

    def observe(self, reading: MemoryReading) -> Level:
        """The level after one more reading."""
        found = level_of(reading)
        if found >= self.level:
            self.level = found
            self._lower.clear()
            return self.level
        self._lower.append(found)
        if len(self._lower) == CALM_READINGS:
            self.level = max(self._lower)
            self._lower.clear()
        return self.level
