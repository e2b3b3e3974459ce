"""Capabilities: parts of root's power that Linux gives a process one by one."""

import ctypes
import os
import struct
import sys

_PR_CAPBSET_DROP, _PR_SET_SECUREBITS, _PR_SET_NO_NEW_PRIVS = 24, 28, 38
_NOTHING_FOR_ROOT = 0xEF
"""User 0 has no capabilities for being user 0, none are kept or made ambient, and none of that can be changed."""
_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def drop_capabilities() -> None:
    """Give up every capability of this thread for good, in all sets. Raises OSError; other systems have none.

    What it starts gets none either: the bounding set is emptied and `no_new_privs` set where a process has privileges
    to lose. Without any, the bounding set has to stay, and set-user-ID programs are the sandbox's matter.
    """
    if sys.platform != "linux":
        return
    capability = 0
    while _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:  # fails without the right to, and past the last one
        capability += 1
    if capability or os.geteuid() == 0:
        _libc.prctl(_PR_SET_SECUREBITS, _NOTHING_FOR_ROOT, 0, 0, 0)
        _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    header = ctypes.create_string_buffer(struct.pack("Ii", _VERSION_3, 0))
    if _libc.capset(header, ctypes.create_string_buffer(24)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"capset: {os.strerror(code)}")
