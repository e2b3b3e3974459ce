"""How short the system is of memory, and how the engine then saves it. Contents of pages are unknown here."""

from pie_mlx.engine.pressure.gauge import Gauge, Level, level_of
from pie_mlx.engine.pressure.keeper import MemoryKeeper
from pie_mlx.engine.pressure.readings import MemoryReading, memory_reader

__all__ = ["Gauge", "Level", "MemoryKeeper", "MemoryReading", "level_of", "memory_reader"]
