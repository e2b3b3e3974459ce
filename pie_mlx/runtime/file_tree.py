"""Measures and removes directory trees that programs made.

Paths may be longer than the system accepts, directories may deny their owner access, and a running program may move
them during a walk. So each directory is opened relative to its parent, links are never followed, and depth costs
neither recursion nor descriptors.
"""

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

KEPT_OPEN = 16
"""Levels whose descriptors stay open. Others are reopened through '..' of a child."""
ATTEMPTS = 3
"""Walks of a tree that keeps changing before giving up."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
BLOCK_BYTES = 512


@dataclass(frozen=True, slots=True)
class Usage:
    """Bytes on disk, and the number of files and directories. `hidden`: there is more, of unknown size."""

    size_bytes: int = 0
    entries: int = 0
    hidden: bool = False

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.size_bytes + other.size_bytes, self.entries + other.entries, self.hidden or other.hidden)


@dataclass(frozen=True, slots=True)
class Quota:
    """The most a tree may hold."""

    size_bytes: int
    entries: int

    def holds(self, usage: Usage) -> bool:
        """Whether the usage is known and within the limits."""
        return not usage.hidden and usage.size_bytes <= self.size_bytes and usage.entries <= self.entries


def measure(directory: str, quota: Quota) -> Usage:
    """Usage below a directory; counting stops at the quota. Files removed during the walk do not count.

    A directory its owner cannot read counts as hidden, and so does a tree that changes too fast to be walked. Raises
    OSError when this process has no descriptors left.
    """
    for _ in range(ATTEMPTS):
        with contextlib.suppress(_ChangedError):
            return _measured(directory, quota)
    return Usage(hidden=True)


def remove_tree(directory: str | os.PathLike[str]) -> None:
    """Remove a directory and everything in it, as far as possible. Never raises."""
    for _ in range(ATTEMPTS):
        try:
            os.rmdir(directory)  # an empty directory needs no descriptor
            return
        except FileNotFoundError:
            return
        except OSError:
            with contextlib.suppress(OSError, _ChangedError), _walk(directory, unlock=True) as walk:
                _empty(walk)
    with contextlib.suppress(OSError):
        os.rmdir(directory)


class _ChangedError(Exception):
    """A directory is no longer where it was found."""


@dataclass(slots=True)
class _Level:
    name: str
    descriptor: int
    identity: tuple[int, int]
    waiting: list[str] = field(default_factory=list[str])
    """Directories in it that are still to be entered."""


class _Walk:
    """A position in a tree. With `unlock`, entering a directory restores its owner's rights."""

    def __init__(self, directory: str | os.PathLike[str], *, unlock: bool) -> None:
        self._unlock = unlock
        self._levels = [self._opened(directory, None)]

    @property
    def here(self) -> _Level:
        return self._levels[-1]

    @property
    def at_top(self) -> bool:
        return len(self._levels) == 1

    def enter(self, name: str) -> None:
        """Raises OSError."""
        above = self.here
        self._levels.append(self._opened(name, above.descriptor))
        if len(self._levels) > KEPT_OPEN:
            os.close(above.descriptor)
            above.descriptor = -1

    def leave(self) -> str:
        """Go up; returns the name of the directory left. Raises _ChangedError."""
        left = self._levels.pop()
        try:
            if self.here.descriptor < 0:
                self.here.descriptor = os.open("..", _DIRECTORY, dir_fd=left.descriptor)
                if _identity(self.here.descriptor) != self.here.identity:
                    raise _ChangedError
        except OSError as error:
            raise _ChangedError from error
        finally:
            os.close(left.descriptor)
        return left.name

    def close(self) -> None:
        for level in self._levels:
            if level.descriptor >= 0:
                os.close(level.descriptor)

    def _opened(self, name: str | os.PathLike[str], above: int | None) -> _Level:
        try:
            descriptor = os.open(name, _DIRECTORY, dir_fd=above)
        except PermissionError:
            if not self._unlock:
                raise
            _unlock(name, above)
            descriptor = os.open(name, _DIRECTORY, dir_fd=above)
        if self._unlock:
            with contextlib.suppress(OSError):
                os.fchmod(descriptor, stat.S_IRWXU)
        return _Level(os.fspath(name), descriptor, _identity(descriptor))


@contextmanager
def _walk(directory: str | os.PathLike[str], *, unlock: bool = False) -> Generator[_Walk]:
    walk = _Walk(directory, unlock=unlock)
    try:
        yield walk
    finally:
        walk.close()


def _identity(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def _unlock(name: str | os.PathLike[str], above: int | None) -> None:
    """Give a directory's owner all rights to it; links are not followed. Raises OSError."""
    if sys.platform != "linux":
        os.chmod(name, stat.S_IRWXU, dir_fd=above, follow_symlinks=False)
        return
    handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
    try:
        os.chmod(f"/proc/self/fd/{handle}", stat.S_IRWXU)
    finally:
        os.close(handle)


class _Count:
    """Adds up entries; a file with several links counts once."""

    def __init__(self) -> None:
        self.usage = Usage()
        self._linked = set[tuple[int, int]]()

    def count_entry(self, found: os.stat_result) -> None:
        if found.st_nlink > 1 and not stat.S_ISDIR(found.st_mode):
            identity = found.st_dev, found.st_ino
            if identity in self._linked:
                return
            self._linked.add(identity)
        self.usage += Usage(found.st_blocks * BLOCK_BYTES, 1)


def _measured(directory: str, quota: Quota) -> Usage:
    count = _Count()
    try:
        with _walk(directory) as walk:
            goes_on = _counted(walk, count, quota)
            while goes_on and (walk.here.waiting or not walk.at_top):
                if not walk.here.waiting:
                    walk.leave()
                elif _entered(walk):
                    goes_on = _counted(walk, count, quota)
    except PermissionError:
        return count.usage + Usage(hidden=True)
    except FileNotFoundError:
        if os.path.lexists(directory):
            raise _ChangedError from None
        return Usage()  # the program has removed it
    return count.usage


def _entered(walk: _Walk) -> bool:
    """Enter the next waiting directory; False if it no longer exists. Raises OSError."""
    try:
        walk.enter(walk.here.waiting.pop())
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise
        return False
    return True


def _counted(walk: _Walk, count: _Count, quota: Quota) -> bool:
    """Count the entries of one directory; False once the quota is exceeded. Raises OSError."""
    with os.scandir(walk.here.descriptor) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                count.count_entry(entry.stat(follow_symlinks=False))
                if entry.is_dir(follow_symlinks=False):
                    walk.here.waiting.append(entry.name)
                if not quota.holds(count.usage):
                    return False
    return True


def _empty(walk: _Walk) -> None:
    """Remove everything below the walk's top. Raises OSError and _ChangedError."""
    _clear(walk.here)
    while walk.here.waiting or not walk.at_top:
        if walk.here.waiting:
            with contextlib.suppress(OSError):
                walk.enter(walk.here.waiting.pop())
                _clear(walk.here)
        else:
            name = walk.leave()
            with contextlib.suppress(OSError):
                os.rmdir(name, dir_fd=walk.here.descriptor)


def _clear(level: _Level) -> None:
    """Remove files and empty directories, and queue the others.

    Scans repeatedly: removing entries during a scan can make the system skip later ones.
    """
    for _ in range(ATTEMPTS):
        level.waiting.clear()
        with os.scandir(level.descriptor) as entries:
            removed = [_removed(entry, level) for entry in entries]
        if not any(removed):
            return


def _removed(entry: "os.DirEntry[str]", level: _Level) -> bool:
    is_directory = entry.is_dir(follow_symlinks=False)
    try:
        (os.rmdir if is_directory else os.unlink)(entry.name, dir_fd=level.descriptor)
    except OSError:
        if is_directory:
            level.waiting.append(entry.name)
        return False
    return True
