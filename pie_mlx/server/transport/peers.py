"""Identifies the other end of a Unix socket."""

import os
import socket
import struct
import sys

_LOCAL_LEVEL, _LOCAL_PEERCRED = 0, 1
"""macOS: SOL_LOCAL and LOCAL_PEERCRED, which returns a `struct xucred`."""
_XUCRED_BYTES = 76


def is_unix(connection: socket.socket) -> bool:
    return connection.family == socket.AF_UNIX


def peer_user_id(connection: socket.socket) -> int:
    """The user id of the connecting process. Raises OSError."""
    if sys.platform == "darwin":
        answer = connection.getsockopt(_LOCAL_LEVEL, _LOCAL_PEERCRED, _XUCRED_BYTES)
        return int(struct.unpack_from("=II", answer)[1])
    answer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", answer)[1])


def is_own_peer(connection: socket.socket) -> bool:
    """Whether the other end runs as the user of this process, or as root."""
    try:
        return peer_user_id(connection) in (os.geteuid(), 0)
    except OSError:
        return False
