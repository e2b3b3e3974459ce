"""Facts of the machine, from the operating system."""

import os
import pwd
import sys

_LIBRARY = "/usr/lib/libSystem.B.dylib"
_ANSWER_BYTES = 256


def sysctl_text(name: str) -> str:
    """The value of a setting of macOS; "" for an unknown name and on other systems."""
    return _sysctl(name).partition(b"\0")[0].decode(errors="replace")


def sysctl_number(name: str) -> int | None:
    """The same for a numeric setting; None if there is none."""
    answer = _sysctl(name)
    return int.from_bytes(answer, sys.byteorder) if answer else None


def memory_bytes() -> int:
    """Bytes of memory of the machine; 0 if unknown."""
    if found := sysctl_number("hw.memsize"):
        return found
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 0


def login_name() -> str:
    """Name of the user this process runs as."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return "local"


def _sysctl(name: str) -> bytes:
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
