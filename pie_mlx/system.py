"""Facts of the machine, from the operating system."""

import os
import pwd
import struct
import sys
from collections.abc import Callable
from pathlib import Path

_LIBRARY = "/usr/lib/libSystem.B.dylib"
_ANSWER_BYTES = 256
_SWAP_FIELDS = struct.Struct("=QQQ")
"""The beginning of `xsw_usage`: all bytes, those available, those used."""


def sysctl_bytes(name: str) -> bytes:
    """The value of a setting of macOS as it is stored; empty for an unknown name and on other systems."""
    if sys.platform != "darwin":
        return b""
    import ctypes

    answer, size = ctypes.create_string_buffer(_ANSWER_BYTES), ctypes.c_size_t(_ANSWER_BYTES)
    try:
        library = ctypes.CDLL(_LIBRARY)
        failed = library.sysctlbyname(name.encode(), answer, ctypes.byref(size), None, ctypes.c_size_t(0))
    except (OSError, AttributeError):
        return b""
    return b"" if failed else answer.raw[: size.value]


def sysctl_text(name: str) -> str:
    """The value of a setting of macOS; "" for an unknown name and on other systems."""
    return sysctl_bytes(name).partition(b"\0")[0].decode(errors="replace")


def sysctl_number(name: str) -> int | None:
    """The same for a numeric setting; None if there is none."""
    answer = sysctl_bytes(name)
    return int.from_bytes(answer, sys.byteorder) if answer else None


def memory_bytes() -> int:
    """Bytes of memory of the machine; 0 if unknown."""
    if found := sysctl_number("hw.memsize"):
        return found
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 0


def swap_bytes(
    meminfo: Path = Path("/proc/meminfo"), setting: Callable[[str], bytes] = sysctl_bytes
) -> tuple[int, int]:
    """Bytes of swap that are used, and of all; 0 of both if unknown."""
    if len(found := setting("vm.swapusage")) >= _SWAP_FIELDS.size:
        total, _, used = _SWAP_FIELDS.unpack_from(found)
        return used, total
    try:
        lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines() if ":" in line)
        total, free = (int(lines[name].split()[0]) << 10 for name in ("SwapTotal", "SwapFree"))
    except (OSError, KeyError, ValueError, IndexError):
        return 0, 0
    return total - free, total


def return_freed_memory() -> None:
    """Have the allocator give memory back that was freed and that it keeps for later. Does nothing where there is no
    way to ask for that."""
    import ctypes

    library = ctypes.CDLL(None)
    if trim := getattr(library, "malloc_trim", None):  # glibc
        trim(ctypes.c_size_t(0))
    elif relieve := getattr(library, "malloc_zone_pressure_relief", None):  # macOS; all zones, as much as there is
        relieve(ctypes.c_void_p(None), ctypes.c_size_t(0))


def login_name() -> str:
    """Name of the user this process runs as."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return "local"
