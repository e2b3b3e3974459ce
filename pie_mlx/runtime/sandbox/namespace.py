"""A network of its own for one process: Linux's network namespaces, which a user namespace lets anybody have."""

import ctypes
import fcntl
import os
import socket
import struct

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_SIOCSIFFLAGS = 0x8914
_IFF_UP, _IFF_RUNNING = 0x1, 0x40

_libc = ctypes.CDLL(None, use_errno=True)


def enter_network_namespace() -> None:
    """Leave the machine's network for an empty one, in which only loopback is up. For good.

    To be called while the process has one thread, which has every capability in its namespaces afterwards. Raises
    OSError; the process may have left by then.
    """
    user, group = os.geteuid(), os.getegid()
    _check(_libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET), "unshare")
    _write("setgroups", "deny")
    _write("uid_map", f"{user} {user} 1")
    _write("gid_map", f"{group} {group} 1")
    _raise_loopback()


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP | _IFF_RUNNING))


def _write(name: str, text: str) -> None:
    with open(f"/proc/self/{name}", "w") as file:
        file.write(text)


def _check(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
