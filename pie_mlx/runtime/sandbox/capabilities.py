"""Drops Linux capabilities, the individual privileges of root."""

import ctypes
import os
import struct
import sys

_PR_CAPBSET_DROP, _PR_SET_SECUREBITS, _PR_SET_NO_NEW_PRIVS = 24, 28, 38
_NOTHING_FOR_ROOT = 0xEF
"""User 0 gets no capabilities as such, none are kept or made ambient, and all of this is locked."""
_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def drop_capabilities() -> None:
    """Permanently drop all capabilities of this thread. Raises OSError; no effect on other systems.

    Its children get none either: a privileged process empties the bounding set and sets `no_new_privs`. An
    unprivileged one cannot empty the bounding set, and relies on the sandbox against set-user-ID programs.
    """
    if sys.platform != "linux":
        return
    capability = 0
    while (
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0
    ):  # fails without privilege, and past the last capability
        capability += 1
    if capability or os.geteuid() == 0:
        _libc.prctl(_PR_SET_SECUREBITS, _NOTHING_FOR_ROOT, 0, 0, 0)
        _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    header = ctypes.create_string_buffer(struct.pack("Ii", _VERSION_3, 0))
    if _libc.capset(header, ctypes.create_string_buffer(24)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"capset: {os.strerror(code)}")
