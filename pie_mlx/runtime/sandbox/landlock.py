"""Landlock: a Linux process restricts its own access to files and TCP ports.

System calls 444 to 446, since kernel 5.13; ports since 6.7.
"""

import ctypes
import os
import stat
import struct

from pie_mlx.runtime.sandbox.policy import Policy

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1

_WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_OLDEST_RIGHTS = (1 << 13) - 1
_SPECIAL_FILES = 1 << 6 | 1 << 9 | 1 << 10 | 1 << 11
"""Creating devices, sockets and pipes."""
_EXECUTE = 1 << 0
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV

_NET_PORT = 2
_BIND_TCP, _CONNECT_TCP = 1 << 0, 1 << 1
_SINCE_NETWORK = 4
_SCOPES = 1 << 0 | 1 << 1
"""Abstract sockets of, and signals to, outside processes."""

_ONLY_NAMED: int = getattr(os, "O_PATH", 0)
"""Opens a path without access. Systems without it have no Landlock either."""

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def restrict_files(policy: Policy) -> None:
    """Deny all files, directories and, if supported (`restricts_ports`), TCP ports but those of the policy.

    Raises OSError without kernel support.
    """
    version = landlock_version()
    handled = _handled(version)
    ruleset = _syscall(_CREATE_RULESET, *_buffer(_ruleset(version, handled)), 0)
    try:
        for path in policy.readable:
            _allow(ruleset, path, (_READ_FILE | _READ_DIR) & handled)
        for path in policy.executable:
            _allow(ruleset, path, (_READ_FILE | _EXECUTE) & handled)
        for path in policy.writable:
            _allow(ruleset, path, handled & ~(_EXECUTE | _SPECIAL_FILES | _IOCTL_DEV))
        if policy.proxy_port is not None and version >= _SINCE_NETWORK:
            rule, _ = _buffer(struct.pack("<QQ", _CONNECT_TCP, policy.proxy_port))
            _syscall(_ADD_RULE, ruleset, _NET_PORT, rule, 0)
        _allow(ruleset, os.devnull, (_READ_FILE | _WRITE_FILE | _TRUNCATE) & handled)
        _syscall(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def restricts_ports() -> bool:
    """Whether the kernel can restrict TCP ports."""
    try:
        return landlock_version() >= _SINCE_NETWORK
    except OSError:
        return False


def landlock_version() -> int:
    """The version of the kernel's interface. Raises OSError without Landlock."""
    return _syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG)


def _handled(version: int) -> int:
    later = ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV))
    return _OLDEST_RIGHTS | sum(right for since, right in later if version >= since)


def _ruleset(version: int, handled: int) -> bytes:
    """Fields depend on the version: an older kernel rejects unknown ones."""
    attributes = struct.pack("<Q", handled)
    if version >= _SINCE_NETWORK:
        attributes += struct.pack("<Q", _BIND_TCP | _CONNECT_TCP)
    if version >= 6:
        attributes += struct.pack("<Q", _SCOPES)
    return attributes


def _allow(ruleset: int, path: str, rights: int) -> None:
    """A missing path is skipped."""
    try:
        parent = os.open(path, _ONLY_NAMED | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(parent).st_mode):
            rights &= _OF_FILES
        rule, _ = _buffer(struct.pack("<Qi", rights, parent))
        _syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(parent)


def _buffer(data: bytes) -> "tuple[ctypes.Array[ctypes.c_char], ctypes.c_size_t]":
    return ctypes.create_string_buffer(data, len(data)), ctypes.c_size_t(len(data))


def _syscall(number: int, *arguments: object) -> int:
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"Landlock: {os.strerror(code)}")
    return result
