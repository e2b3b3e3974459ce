"""Which engine a command means."""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

_ANSWER_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Address:
    """Where an engine is; its Unix socket goes first where it has one. Else one is `username` there, by `key_file`, or
    whoever runs this command, by the engine's `token`."""

    url: str
    unix_socket: str | None = None
    username: str | None = None
    key_file: Path | None = None
    token: str | None = None


class _EngineFile(msgspec.Struct, frozen=True):
    pid: int
    url: str
    socket: str


def find_engine(url: str | None, environment: Mapping[str, str], home: Path) -> Address | None:
    """`url` or `$PIE_URL`; else the engine that runs on `home`; None when there is none."""
    if chosen := url or environment.get("PIE_URL"):
        return Address(chosen)
    try:
        found = msgspec.json.decode((home / "run" / "engine.json").read_bytes(), type=_EngineFile)
    except (OSError, msgspec.DecodeError):
        return None
    if not _is_alive(found.pid) or not _answers(found.socket):
        return None
    return Address(found.url, found.socket)


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
