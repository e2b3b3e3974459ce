"""Find the engine that a command uses."""

import fcntl
import os
import socket
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from pie_mlx.documents import json_struct
from pie_mlx.errors import InvalidArgumentError

_ANSWER_SECONDS = 2.0
_LOCAL_LEVEL, _LOCAL_PEERPID = 0, 2
"""Constants of macOS: SOL_LOCAL and LOCAL_PEERPID, which gives a pid."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of an engine. A Unix socket is preferred and needs no login; otherwise the login is `username` with
    `key_file`, or the present user with the engine's `token`."""

    url: str
    unix_socket: str | None = None
    username: str | None = None
    key_file: Path | None = None
    token: str | None = None


class LocalEngine(msgspec.Struct, frozen=True):
    """An engine's record in its home directory. `model` is its name for the model, `source` the model's identity;
    `others` are the identities of further models by their names.
    `variables` of the environment set its configuration; their values are digests."""

    pid: int
    url: str
    socket: str
    model: str = ""
    source: str = ""
    variables: dict[str, str] = {}
    others: dict[str, str] = {}


def find_engine(url: str | None, environment: Mapping[str, str], home: Path) -> Address | None:
    """`url` or `$PIE_URL`; else the engine that runs on `home`; None if there is none."""
    if chosen := url or environment.get("PIE_URL"):
        return Address(chosen)
    found = local_engine(home)
    return None if found is None else Address(found.url, found.socket)


def local_engine(home: Path) -> LocalEngine | None:
    """The engine that runs on `home`; None if there is none or it is still loading its model."""
    try:
        found = json_struct((home / "run" / "engine.json").read_bytes(), LocalEngine)
    except (OSError, InvalidArgumentError):
        return None
    return found if _is_alive(found.pid) and _answers(found.socket) else None


def is_home_in_use(home: Path) -> bool:
    """Whether an engine uses `home`: from before it loads its model until it has ended."""
    try:
        with (home / "run" / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def is_listening(engine: LocalEngine) -> bool:
    """Whether the process of the record listens at its socket: the pid alone may belong to another process by now."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial:
        trial.settimeout(_ANSWER_SECONDS)
        try:
            trial.connect(engine.socket)
            return peer_process(trial) == engine.pid
        except OSError:
            return False


def peer_process(connection: socket.socket) -> int:
    """The process id of the other end of a Unix socket. Raises OSError."""
    if sys.platform == "darwin":
        return connection.getsockopt(_LOCAL_LEVEL, _LOCAL_PEERPID)
    answer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", answer)[0])


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial:
        trial.settimeout(_ANSWER_SECONDS)
        try:
            trial.connect(path)
        except OSError:
            return False
    return True
