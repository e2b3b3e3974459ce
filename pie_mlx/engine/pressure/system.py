"""Who reads the memory of this system."""

import sys
from collections.abc import Callable

from pie_mlx.engine.pressure.linux import read_linux
from pie_mlx.engine.pressure.macos import read_macos
from pie_mlx.engine.pressure.reading import MemoryReading

ReadMemory = Callable[[], MemoryReading | None]


def memory_reader(platform: str = sys.platform) -> ReadMemory:
    """Reads the memory of a system of that kind; answers None where nothing is known of it."""
    return {"darwin": read_macos, "linux": read_linux}.get(platform, lambda: None)
