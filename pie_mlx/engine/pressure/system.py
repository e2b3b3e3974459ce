"""Chooses the reader of this system's memory."""

import sys
from collections.abc import Callable

from pie_mlx.engine.pressure.linux import read_linux
from pie_mlx.engine.pressure.macos import read_macos
from pie_mlx.engine.pressure.reading import MemoryReading

ReadMemory = Callable[[], MemoryReading | None]


def memory_reader(platform: str = sys.platform) -> ReadMemory:
    """A reader for that kind of system. It returns None if nothing is known."""
    return {"darwin": read_macos, "linux": read_linux}.get(platform, lambda: None)
