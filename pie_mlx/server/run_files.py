"""The files by which clients find an engine: `$PIE_HOME/run/engine.json` and the Unix socket beside it."""

import contextlib
import fcntl
import os
import socket
import tempfile
from pathlib import Path
from typing import TextIO

import msgspec

from pie_mlx.documents import json_struct
from pie_mlx.errors import ConfigError, InvalidArgumentError
from pie_mlx.files import disk_hint, make_own, write_file

SOCKET_PATH_LIMIT_BYTES = 103
"""The limit on macOS; Linux allows a little more."""


class EngineFile(msgspec.Struct, frozen=True):
    """`started_at` is Unix time. `model` is the model's name, `source` its directory or repo id; `others` are
    those of further models by their names. `variables` set its configuration, with digests of their values."""

    pid: int
    url: str
    socket: str
    version: str
    started_at: float
    model: str = ""
    source: str = ""
    variables: dict[str, str] = {}
    others: dict[str, str] = {}


def run_directory(home: Path) -> Path:
    """The run directory; creates it and `home` with mode 0700 if missing. Raises ConfigError."""
    directory = home / "run"
    try:
        make_own(home)
        make_own(directory)
    except OSError as error:
        hint = disk_hint(error, "set PIE_HOME to a directory that only you can write in")
        raise ConfigError(f"{error.filename}: {error.strerror}", hint=hint) from None
    return directory


def engine_file(home: Path) -> Path:
    return home / "run" / "engine.json"


def write_engine_file(home: Path, content: EngineFile) -> None:
    """Readable by its owner only. Raises OSError."""
    write_file(engine_file(home), msgspec.json.encode(content))


def remove_engine_file(home: Path) -> None:
    """Remove the file if it is our own: another engine may have started since."""
    path = engine_file(home)
    with contextlib.suppress(OSError, InvalidArgumentError):
        if json_struct(path.read_bytes(), EngineFile).pid == os.getpid():
            path.unlink()


def lock_home(home: Path) -> TextIO:
    """Lock `home` for one engine, before it loads its model. Raises ConfigError if another has the lock."""
    file = (run_directory(home) / "lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        running = _running(home)
        where, stop = (f", at {running.url}", " with 'pie stop'") if running else ("", "")
        raise ConfigError(
            f"{home}: an engine already runs with it{where}",
            hint=f"use that engine, stop it{stop}, or set another PIE_HOME",
        ) from None
    return file


def _running(home: Path) -> EngineFile | None:
    """The running engine's file; None if it is not written yet."""
    try:
        return json_struct(engine_file(home).read_bytes(), EngineFile)
    except (OSError, InvalidArgumentError):
        return None


def bind_unix(home: Path) -> socket.socket:
    """A bound socket of mode 0600 in a directory of mode 0700. Replaces one of a dead engine: callers lock `home`."""
    path = _socket_path(home)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    path.unlink(missing_ok=True)
    connection.bind(str(path))
    path.chmod(0o600)
    return connection


def remove_unix(home: Path, path: Path) -> None:
    """Remove the socket, and its directory if that was made for it."""
    path.unlink(missing_ok=True)
    if path.parent != home / "run":
        with contextlib.suppress(OSError):
            path.parent.rmdir()


def _socket_path(home: Path) -> Path:
    path = run_directory(home) / "engine.sock"
    if len(os.fsencode(path)) <= SOCKET_PATH_LIMIT_BYTES:
        return path
    return Path(tempfile.mkdtemp(prefix="pie-")) / "engine.sock"
