"""The directories of programs: lasting ones per user and program, temporary ones per engine."""

import contextlib
import errno
import fcntl
import os
import stat
import tempfile
from pathlib import Path

from pie_mlx.files import make_own
from pie_mlx.runtime.file_tree import Quota, remove_tree

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")
_BYTES_PER_ENTRY = 16 << 10
"""Bytes per inode that file systems usually reserve."""
_LEAST_ENTRIES = 4096


def scratch_quota(limit_bytes: int) -> Quota:
    """A program's quota: bytes, and a proportional number of files and directories."""
    return Quota(limit_bytes, max(_LEAST_ENTRIES, limit_bytes // _BYTES_PER_ENTRY))


def scratch_directory(root: Path, username: str, program: str) -> Path:
    """The lasting directory of a program (`Program.name_for`) for a user, shared by its versions; made if missing.

    Raises OSError, also if another user owns it or can write to it.
    """
    directory = root / encoded(username) / encoded(program)
    make_own(directory.parent)
    make_own(directory)
    return directory


def encoded(name: str) -> str:
    """A unique file name, also on file systems that ignore case."""
    text = "".join(c if c in _PLAIN else "".join(f"%{byte:02x}" for byte in c.encode()) for c in name)
    return f"%2e{text[1:]}" if text.startswith(".") else text


_PREFIX = "pie-programs-"


class TemporaryRoot:
    """The temporary directory of an engine, locked while it lives, so that others detect what a killed one left."""

    def __init__(self) -> None:
        self.path, self._lock = _new_root()

    def new_directory(self) -> Path:
        """A new directory for one worker. Raises OSError."""
        if not self.path.is_dir():  # macOS removes temporary files that were unused for days
            self._unlock()
            self.path, self._lock = _new_root()
        return Path(tempfile.mkdtemp(dir=self.path)).resolve()

    def remove(self) -> None:
        """Remove it with its contents."""
        remove_tree(self.path)
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)


def sweep(directory: Path) -> None:
    """Remove what this user's dead engines left in `directory`, a temporary directory."""
    for path in directory.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            lock = _locked(path)
            remove_tree(path)
            os.close(lock)


def _new_root() -> tuple[Path, int | None]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        try:
            return path, _locked(path)
        except (BlockingIOError, FileNotFoundError):  # a concurrently starting engine mistook it for a leftover
            continue
        except OSError:  # a file system without locks, where nothing is swept
            return path, None


def _locked(path: Path) -> int:
    """A descriptor that locks a directory. Raises OSError if it is locked, gone, or not a private one of this user."""
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        found = os.fstat(lock)
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) != 0o700:
            raise PermissionError(errno.EPERM, "not a private directory of this user's", path)
        if not os.path.samestat(found, os.stat(path, follow_symlinks=False)):
            raise FileNotFoundError(errno.ENOENT, "replaced", path)
    except OSError:
        os.close(lock)
        raise
    return lock
