"""`wasi:filesystem` on the directory of the program, which is `/scratch`.

Its paths are joined to those of their directory and may not leave it; the sandbox protects all other files.
"""

import errno
import os
import stat as status
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from pie_mlx.wasm.binding.writers import WitError
from pie_mlx.wasm.offers import Interface
from pie_mlx.wasm.wasi.clocks import Datetime, as_datetime
from pie_mlx.wasm.wasi.poll import Error
from pie_mlx.wasm.wasi.streams import CHUNK_BYTES, InputStream, OutputStream

T = TypeVar("T")

ROOT = "/scratch"
"""The name under which components find their directory."""

_CODES = {
    errno.EACCES: "access",
    errno.EAGAIN: "would-block",
    errno.EBADF: "bad-descriptor",
    errno.EBUSY: "busy",
    errno.EDQUOT: "quota",
    errno.EEXIST: "exist",
    errno.EFBIG: "file-too-large",
    errno.EINVAL: "invalid",
    errno.EISDIR: "is-directory",
    errno.ELOOP: "loop",
    errno.EMFILE: "insufficient-memory",
    errno.EMLINK: "too-many-links",
    errno.ENAMETOOLONG: "name-too-long",
    errno.ENOENT: "no-entry",
    errno.ENOSPC: "insufficient-space",
    errno.ENOTDIR: "not-directory",
    errno.ENOTEMPTY: "not-empty",
    errno.ENOTSUP: "unsupported",
    errno.EPERM: "not-permitted",
    errno.EROFS: "read-only",
    errno.EXDEV: "cross-device",
}
_KINDS = (
    (status.S_ISREG, "regular-file"),
    (status.S_ISDIR, "directory"),
    (status.S_ISLNK, "symbolic-link"),
    (status.S_ISCHR, "character-device"),
    (status.S_ISBLK, "block-device"),
    (status.S_ISFIFO, "fifo"),
    (status.S_ISSOCK, "socket"),
)
_NEW_MODE = 0o666

Stat = tuple[str, int, int, Datetime | None, Datetime | None, Datetime | None]
"""Type, links, bytes, and the times of the last access, change of content and change of status."""
Entry = tuple[str, str]
"""Type and name."""
Flags = frozenset[str]


class DirectoryEntryStream:
    """The entries of a directory."""

    def __init__(self, entries: Iterator[Entry]) -> None:
        self._entries = entries

    def read_directory_entry(self) -> Entry | None:
        return _attempt(lambda: next(self._entries, None))


class Descriptor:
    """An open file, or a directory. `number` is the system's descriptor of a file, None for a directory."""

    def __init__(self, path: str, flags: Flags, number: int | None = None) -> None:
        self.path = path
        self._flags = flags
        self._number = number

    def read_via_stream(self, offset: int) -> InputStream:
        number, place = self._file(), [offset]

        def read(length: int) -> bytes | None:
            data = os.pread(number, length, place[0])
            place[0] += len(data)
            return data or None

        return InputStream(self._kept(read))

    def write_via_stream(self, offset: int) -> OutputStream:
        number, place = self._file(), [offset]

        def write(data: bytes) -> None:
            _write_all(number, data, place[0])
            place[0] += len(data)

        return OutputStream(self._kept(write))

    def append_via_stream(self) -> OutputStream:
        number = self._file()

        def write(data: bytes) -> None:
            _write_all(number, data, os.fstat(number).st_size)

        return OutputStream(self._kept(write))

    def advise(self, offset: int, length: int, advice: str) -> None:
        """Advice changes nothing here."""

    def sync_data(self) -> None:
        self.sync()

    def sync(self) -> None:
        number = self._number
        if number is not None:
            _attempt(lambda: os.fsync(number))

    def get_flags(self) -> Flags:
        return self._flags

    def get_type(self) -> str:
        return self.stat()[0]

    def set_size(self, size: int) -> None:
        _attempt(lambda: os.ftruncate(self._file(), size))

    def set_times(self, accessed: tuple[str, Any], changed: tuple[str, Any]) -> None:
        _attempt(lambda: _set_times(self.path, accessed, changed))

    def read(self, length: int, offset: int) -> tuple[bytes, bool]:
        """The bytes, and whether they are the last."""
        wanted = min(length, CHUNK_BYTES)
        data = _attempt(lambda: os.pread(self._file(), wanted, offset))
        return data, len(data) < wanted

    def write(self, buffer: bytes, offset: int) -> int:
        _attempt(lambda: _write_all(self._file(), buffer, offset))
        return len(buffer)

    def read_directory(self) -> DirectoryEntryStream:
        found = _attempt(lambda: sorted(os.listdir(self.path)))
        return DirectoryEntryStream((_kind(os.lstat(os.path.join(self.path, name))), name) for name in found)

    def create_directory_at(self, path: str) -> None:
        _attempt(lambda: os.mkdir(self._inside(path)))

    def stat(self) -> Stat:
        return _attempt(lambda: _stat(os.stat(self.path) if self._number is None else os.fstat(self._number)))

    def stat_at(self, flags: Flags, path: str) -> Stat:
        look = os.stat if "symlink-follow" in flags else os.lstat
        return _attempt(lambda: _stat(look(self._inside(path))))

    def set_times_at(self, flags: Flags, path: str, accessed: tuple[str, Any], changed: tuple[str, Any]) -> None:
        _attempt(lambda: _set_times(self._inside(path), accessed, changed))

    def link_at(self, flags: Flags, path: str, directory: "Descriptor", new_path: str) -> None:
        _attempt(lambda: os.link(self._inside(path), directory._inside(new_path)))

    def open_at(self, path_flags: Flags, path: str, open_flags: Flags, flags: Flags) -> "Descriptor":
        place = self._inside(path)
        if "directory" in open_flags or (os.path.isdir(place) and "create" not in open_flags):
            if not os.path.isdir(place):
                raise WitError("not-directory" if os.path.exists(place) else "no-entry")
            return Descriptor(place, flags)
        mode = _open_mode(open_flags, flags) | (0 if "symlink-follow" in path_flags else os.O_NOFOLLOW)
        return Descriptor(place, flags, _attempt(lambda: os.open(place, mode, _NEW_MODE)))

    def readlink_at(self, path: str) -> str:
        return _attempt(lambda: os.readlink(self._inside(path)))

    def remove_directory_at(self, path: str) -> None:
        _attempt(lambda: os.rmdir(self._inside(path)))

    def rename_at(self, path: str, directory: "Descriptor", new_path: str) -> None:
        _attempt(lambda: os.rename(self._inside(path), directory._inside(new_path)))

    def symlink_at(self, target: str, path: str) -> None:
        if os.path.isabs(target):
            raise WitError("not-permitted")
        _attempt(lambda: os.symlink(target, self._inside(path)))

    def unlink_file_at(self, path: str) -> None:
        _attempt(lambda: os.unlink(self._inside(path)))

    def is_same_object(self, other: "Descriptor") -> bool:
        return _attempt(lambda: os.path.samefile(self.path, other.path))

    def metadata_hash(self) -> tuple[int, int]:
        return _attempt(lambda: _identity(os.stat(self.path)))

    def metadata_hash_at(self, flags: Flags, path: str) -> tuple[int, int]:
        look = os.stat if "symlink-follow" in flags else os.lstat
        return _attempt(lambda: _identity(look(self._inside(path))))

    def _file(self) -> int:
        if self._number is None:
            raise WitError("is-directory")
        return self._number

    def _kept(self, function: T) -> T:
        """The same function, which keeps this descriptor open: streams outlive it."""
        function.__dict__["descriptor"] = self
        return function

    def _inside(self, path: str) -> str:
        """The system's path of a path in this directory. Raises WitError for one that leads out of it."""
        place = os.path.normpath(os.path.join(self.path, path))
        real = os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))
        top = os.path.realpath(self.path)
        if os.path.isabs(path) or "\0" in path or (real != top and not real.startswith(top.rstrip("/") + "/")):
            raise WitError("not-permitted")
        return place

    def __del__(self) -> None:
        if getattr(self, "_number", None) is not None:
            os.close(self._file())


def get_directories() -> list[tuple[Descriptor, str]]:
    """The directory of the program, which lasts or ends with it."""
    return [(Descriptor(os.getcwd(), frozenset({"read", "mutate-directory"})), ROOT)]


def filesystem_error_code(error: Error) -> str | None:
    return None if error.number is None else _CODES.get(error.number, "io")


def _attempt(act: Callable[[], T]) -> T:
    try:
        return act()
    except OSError as error:
        raise WitError(_CODES.get(error.errno or 0, "io")) from error


def _write_all(number: int, data: bytes, offset: int) -> None:
    rest = memoryview(data)
    while rest:
        written = os.pwrite(number, rest, offset)
        rest, offset = rest[written:], offset + written


def _open_mode(open_flags: Flags, flags: Flags) -> int:
    writes = "write" in flags
    mode = os.O_CLOEXEC | ((os.O_RDWR if "read" in flags else os.O_WRONLY) if writes else os.O_RDONLY)
    for flag, bit in (("create", os.O_CREAT), ("exclusive", os.O_EXCL), ("truncate", os.O_TRUNC)):
        mode |= bit if flag in open_flags else 0
    return mode


def _kind(found: os.stat_result) -> str:
    return next((name for test, name in _KINDS if test(found.st_mode)), "unknown")


def _stat(found: os.stat_result) -> Stat:
    times = (as_datetime(time_ns) for time_ns in (found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns))
    accessed, changed, changed_status = times
    return _kind(found), found.st_nlink, found.st_size, accessed, changed, changed_status


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_ino, hash((found.st_dev, found.st_size, found.st_mtime_ns)) & (2**64 - 1)


def _set_times(path: str, accessed: tuple[str, Any], changed: tuple[str, Any]) -> None:
    found = os.stat(path)
    times = (_new_time(accessed, found.st_atime_ns), _new_time(changed, found.st_mtime_ns))
    os.utime(path, ns=times)


def _new_time(wanted: tuple[str, Any], present_ns: int) -> int:
    kind, value = wanted
    if kind == "timestamp":
        seconds, nanoseconds = value
        return seconds * 10**9 + nanoseconds
    return present_ns if kind == "no-change" else time.time_ns()


INTERFACES = (
    Interface("wasi:filesystem/types", (filesystem_error_code,), (Descriptor, DirectoryEntryStream)),
    Interface("wasi:filesystem/preopens", (get_directories,)),
)
