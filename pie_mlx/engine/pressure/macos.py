"""The memory of a Mac, as its kernel judges it."""

import ctypes
from collections.abc import Callable

from pie_mlx.engine.pressure.reading import MemoryReading

Sysctl = Callable[[str], int | None]
"""An integer that the kernel knows by name; None for a name it does not know."""


def read_macos(sysctl: Sysctl | None = None) -> MemoryReading | None:
    """What `memory_pressure` prints; None where the kernel does not tell."""
    ask = sysctl or _sysctl
    total, free_percent = ask("hw.memsize"), ask("kern.memorystatus_level")
    if total is None or free_percent is None:
        return None
    level = ask("kern.memorystatus_vm_pressure_level")
    return MemoryReading(total, total * min(max(free_percent, 0), 100) // 100, system_level=level or 0)


def _sysctl(name: str) -> int | None:
    value, size = ctypes.c_int64(0), ctypes.c_size_t(8)  # those of four bytes fill the lower ones
    ask = ctypes.CDLL(None).sysctlbyname
    ask.argtypes = (ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
    failed = ask(name.encode(), ctypes.byref(value), ctypes.byref(size), None, 0)
    return None if failed else value.value
