"""Whether the system is short of memory, and what the engine then does without."""

from pie_mlx.engine.pressure.gauge import Gauge, Level, level_of
from pie_mlx.engine.pressure.keeper import MemoryKeeper
from pie_mlx.engine.pressure.reading import MemoryReading
from pie_mlx.engine.pressure.system import memory_reader

__all__ = ["Gauge", "Level", "MemoryKeeper", "MemoryReading", "level_of", "memory_reader"]
