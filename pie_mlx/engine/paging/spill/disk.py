"""The bytes of a spill file: a nameless file in a private directory."""

import fcntl
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from pie_mlx.files import make_private, require_private

FILE_PREFIX, FILE_SUFFIX = "pie-", ".spill"
FILE_MODE = 0o600


class Disk(Protocol):
    """Random access to a growing file. Every method may block and raises OSError; none may be called after `close`."""

    def write_at(self, data: bytes, offset: int) -> None: ...

    def read_at(self, count: int, offset: int) -> bytes:
        """Up to `count` bytes; fewer at the end of the file."""
        ...

    def flush(self) -> None:
        """Wait until everything written is on the medium and, where that can be asked for, out of the cache."""
        ...

    def close(self) -> None: ...


class FileDisk:
    """Implements Disk with a file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write_at(self, data: bytes, offset: int) -> None:
        view = memoryview(data)
        while view:
            written = os.pwrite(self._descriptor, view, offset)
            view, offset = view[written:], offset + written

    def read_at(self, count: int, offset: int) -> bytes:
        parts: list[bytes] = []
        while count:
            part = os.pread(self._descriptor, count, offset)
            if not part:
                break
            parts.append(part)
            count, offset = count - len(part), offset + len(part)
        return b"".join(parts)

    def flush(self) -> None:
        os.fsync(self._descriptor)
        if sys.platform == "linux":
            os.posix_fadvise(self._descriptor, 0, 0, os.POSIX_FADV_DONTNEED)

    def close(self) -> None:
        os.close(self._descriptor)


def open_disk(directory: str) -> FileDisk:
    """An empty file of mode 0600 in `directory`, which is made with mode 0700 if there is none.

    Its name is gone as soon as it is open: whatever ends the engine, nothing of it survives, and no other process can
    open it. Names left by an engine that was killed in between are removed. Raises OSError, also for a directory that
    other users may enter.
    """
    place = Path(directory)
    make_private(place)
    require_private(place)
    for leftover in place.glob(f"{FILE_PREFIX}*{FILE_SUFFIX}"):
        leftover.unlink(missing_ok=True)
    path = place / f"{FILE_PREFIX}{uuid4().hex}{FILE_SUFFIX}"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
    with suppress(FileNotFoundError):  # another engine that starts now may have tidied it away
        path.unlink()
    _bypass_cache(descriptor)
    return FileDisk(descriptor)


def _bypass_cache(descriptor: int) -> None:
    """Where it can be asked for: spilled pages would only push useful files out of the system's cache."""
    if sys.platform == "darwin":
        fcntl.fcntl(descriptor, fcntl.F_NOCACHE, 1)
