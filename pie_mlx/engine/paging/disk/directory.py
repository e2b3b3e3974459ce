"""The directory of the disk cache: one folder per model, one file per batch, a bound on all of them."""

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import msgspec

from pie_mlx.engine.paging.disk.batch_file import SUFFIX, Header, Owner, Record, encoded, read_header
from pie_mlx.engine.paging.disk.write_budget import WriteBudget, Writes
from pie_mlx.files import PRIVATE, REPLACING, make_private, require_private, write_file

UNFINISHED = ".tmp"
LEAST_FREE = 0.1
"""The part of the disk that stays free."""
ABANDONED_SECONDS = 60.0
"""After so long the writer of a small file is gone."""
_LOCK, _USAGE = ".lock", "writes.json"


class StoredFile(NamedTuple):
    """A batch file: its size, and when a record of it was last used, by the system's clock."""

    path: Path
    size_bytes: int
    used_seconds: float


class CacheDirectory:
    """Files of all models and engines below `root`, at most `max_bytes` of them. Methods block, and raise OSError."""

    def __init__(self, root: Path, *, max_bytes: int, day_bytes: int, clock: Callable[[], float] = time.time) -> None:
        self.root, self.max_bytes, self.budget = root, max_bytes, WriteBudget(day_bytes)
        self._clock = clock
        self._writes = self.budget.first(clock())

    def open(self) -> None:
        """Make the directory, for its owner alone, and remove what writers that were killed left half-written.

        Raises PermissionError for one that others may enter.
        """
        make_private(self.root)
        require_private(self.root)
        self._writes = self.writes()
        for leftover in self.root.glob(f"*/.*{UNFINISHED}"):
            _remove_abandoned(leftover)
        for leftover in self.root.glob(f".*{REPLACING}"):
            with contextlib.suppress(FileNotFoundError):
                if leftover.stat().st_mtime < self._clock() - ABANDONED_SECONDS:
                    leftover.unlink()

    def files(self) -> list[StoredFile]:
        """All batch files, those of other versions too, the least recently used first."""
        now = self._clock()
        found: list[StoredFile] = []
        for folder in _entries(self.root):
            for entry in _entries(Path(folder.path)) if folder.is_dir(follow_symlinks=False) else ():
                with contextlib.suppress(FileNotFoundError):  # another engine makes room
                    if entry.name.endswith(SUFFIX):
                        stat = entry.stat(follow_symlinks=False)
                        found.append(StoredFile(Path(entry.path), stat.st_size, min(stat.st_mtime, now)))
        return sorted(found, key=lambda file: (file.used_seconds, file.path.name))

    def folder(self, identity: str) -> Path:
        """The folder of one model."""
        return self.root / identity

    def names(self, identity: str) -> list[str]:
        """The batch files of a model, the oldest first."""
        return sorted(entry.name for entry in _entries(self.folder(identity)) if entry.name.endswith(SUFFIX))

    def write(self, owner: Owner, records: Sequence[Record]) -> tuple[str, int]:
        """Write a batch; returns its name and size in bytes. Raises OSError, and FullError if the bound or the disk has
        no room."""
        parts = encoded(owner, records)
        size = sum(map(len, parts))
        folder = self.folder(owner.identity)
        make_private(folder)  # the first time, and once somebody has removed all of it
        self._make_room(size)
        name = f"{time.time_ns():020d}-{uuid4().hex}{SUFFIX}"
        unfinished = folder / f".{uuid4().hex}{UNFINISHED}"
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)  # says that its writer lives
            for part in parts:
                _write_all(descriptor, part)
            self.use(unfinished)
            unfinished.rename(folder / name)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        finally:
            os.close(descriptor)
        self._count(size)
        return name, size

    def use(self, path: Path) -> None:
        """A record of the file was used now."""
        with contextlib.suppress(FileNotFoundError):
            now = self._clock()
            os.utime(path, (now, now))

    def writes(self) -> Writes:
        """How much was written, and how much more may be."""
        now = self._clock()
        try:
            found = msgspec.json.decode((self.root / _USAGE).read_bytes(), type=Writes)
        except (OSError, msgspec.DecodeError):
            found = self.budget.first(now)
        return self.budget.now(found, now)

    def allows(self, size_bytes: int, *, used_twice: bool) -> bool:
        """Whether the day has room for so many bytes, as far as is known here. Does not block."""
        return self.budget.allows(self.budget.now(self._writes, self._clock()), size_bytes, used_twice=used_twice)

    def clear(self, model: str | None = None) -> int:
        """Remove all files, or those of the models of one name; returns how many bytes. Engines that used them compute
        again."""
        chosen = [
            file for file, header in self.described() if model is None or (header and header.owner.model == model)
        ]
        for file in chosen:
            file.path.unlink(missing_ok=True)
        for folder in {file.path.parent for file in chosen}:
            with contextlib.suppress(OSError):  # a writer has just begun another file
                folder.rmdir()
        return sum(file.size_bytes for file in chosen)

    def described(self) -> Iterator[tuple[StoredFile, Header | None]]:
        """All files with what they say of themselves."""
        for file in self.files():
            with contextlib.suppress(OSError):
                yield file, read_header(file.path)

    def _make_room(self, size: int) -> None:
        disk = shutil.disk_usage(self.root)
        if disk.free - size < LEAST_FREE * disk.total:
            raise FullError(f"{self.root}: a tenth of the disk is to stay free")
        if size > self.max_bytes:
            raise FullError(f"{self.root}: {size:,} bytes are more than the {self.max_bytes:,} it may have")
        with self._locked():
            files = self.files()
            over = sum(file.size_bytes for file in files) + size - self.max_bytes
            for file in files:
                if over <= 0:
                    break
                file.path.unlink(missing_ok=True)
                over -= file.size_bytes

    def _count(self, size: int) -> None:
        with self._locked():
            self._writes = self.budget.after(self.writes(), size)
            write_file(self.root / _USAGE, msgspec.json.encode(self._writes))

    @contextlib.contextmanager
    def _locked(self) -> Generator[None]:
        """Alone among the engines on this directory."""
        descriptor = os.open(self.root / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


class FullError(OSError):
    """There is no room for a batch."""


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _write_all(descriptor: int, data: bytes | memoryview) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _remove_abandoned(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
        except BlockingIOError:
            pass  # another engine is writing it
        finally:
            os.close(descriptor)
