"""The memory of a Mac, as its kernel reports it."""

from collections.abc import Callable

from pie_mlx.engine.pressure.reading import MemoryReading
from pie_mlx.system import sysctl_number


def read_macos(ask: Callable[[str], int | None] = sysctl_number) -> MemoryReading | None:
    """The values that `memory_pressure` prints. None if the kernel does not report them. `ask` reads numeric sysctl
    settings."""
    total, free_percent = ask("hw.memsize"), ask("kern.memorystatus_level")
    if total is None or free_percent is None:
        return None
    level = ask("kern.memorystatus_vm_pressure_level")
    return MemoryReading(total, total * min(max(free_percent, 0), 100) // 100, system_level=level or 0)
