"""`/scratch`: a fixed name for a directory of the host.

Replaces functions of `os`, `open` and `sqlite3.connect` by wrappers that translate the prefix in arguments and results;
`pathlib`, `shutil`, `glob`, `tempfile` and `os.path` build on these. This is a convenience, not a protection: programs
can also use the host's path. The sandbox protects other files.
"""

import builtins
import errno
import functools
import glob
import io
import math
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self, cast

NAME = "/scratch"

# fmt: off
_FUNCTIONS = (
    "access", "chdir", "chflags", "chmod", "chown", "getxattr", "lchmod", "lchown", "link", "listdir",
    "listxattr", "lstat", "mkdir", "mkfifo", "mknod", "open", "pathconf", "readlink", "remove", "removexattr",
    "rename", "replace", "rmdir", "setxattr", "stat", "statvfs", "symlink", "truncate", "unlink", "utime",
)
# fmt: on
"""Functions of `os` whose first argument is a path."""
_TWO_PATHS = frozenset(("link", "rename", "replace", "symlink"))
_PATH_OPTIONS = frozenset(("path", "src", "dst"))
_OF_ATTRIBUTES = frozenset(("chflags", "chmod", "chown", "lchmod", "lchown", "utime"))
_GLOBBER = getattr(glob, "_StringGlobber", None)
"""The search class of `pathlib`, which in Python 3.13 keeps references to functions of `os`."""
_CREATING = frozenset(("mkdir", "mkfifo", "mknod", "symlink"))


@dataclass(frozen=True, slots=True)
class Scratch:
    """`workspace` is the program's directory on the host; if `lasting` it is also /scratch, otherwise there is none.

    `check_room` is called before creating or writing and raises OSError if there is no space. With `frozen_attributes`
    the system forbids changing modes, owners and times; inside the workspace such calls then have no effect instead of
    failing.
    """

    workspace: str
    lasting: bool
    check_room: Callable[[], None]
    frozen_attributes: bool = False

    def host(self, path: Any) -> Any:
        """The host's path for a program's path. Raises PermissionError if there is no /scratch."""
        if not isinstance(path, str | bytes | os.PathLike):
            return path
        plain = cast("Any", os.fspath(cast("os.PathLike[str]", path)))
        if not _is_below(plain, NAME):
            return plain
        if not self.lasting:
            raise PermissionError(errno.EACCES, "the file system is off: set [runtime] allow_fs = true", plain)
        return _like(plain, self.workspace) + plain[len(NAME) :]

    def program(self, path: Any) -> Any:
        """A program's path for the host's path."""
        if not self.lasting or not isinstance(path, str | bytes) or not _is_below(path, self.workspace):
            return path  # pyright: ignore[reportUnknownVariableType]
        plain: Any = path
        return _like(plain, NAME) + plain[len(_like(plain, self.workspace)) :]

    def is_inside(self, path: Any) -> bool:
        """Whether a path is in the workspace, after resolving symbolic links."""
        if isinstance(path, int):
            return False
        return _is_below(self.host(os.path.realpath(os.fsdecode(path))), self.workspace)

    @contextmanager
    def errors(self) -> Generator[None]:
        """Translate paths in the errors raised inside to the program's."""
        try:
            yield
        except OSError as error:
            for name in ("filename", "filename2"):
                if getattr(error, name) is not None:
                    setattr(error, name, self.program(getattr(error, name)))
            raise


class SpaceCheck:
    """Raises ENOSPC while `is_left` is false; it is called once in `REFRESH_SECONDS`, or less often if it is slow."""

    REFRESH_SECONDS = 0.2
    SHARE = 0.1
    """The largest share of a program's time spent on calling it."""

    def __init__(self, is_left: Callable[[], bool], limit_bytes: int, entries: int) -> None:
        self._is_left = is_left
        self._limits = f"files may take {limit_bytes >> 20} MiB and be {entries} in number"
        self._last = True
        self._next_seconds = -math.inf

    def __call__(self) -> None:
        begun = time.monotonic()
        if begun >= self._next_seconds:
            self._last = self._is_left()
            ended = time.monotonic()
            self._next_seconds = ended + max(self.REFRESH_SECONDS, (ended - begun) / self.SHARE)
        if not self._last:
            raise OSError(errno.ENOSPC, f"No space left: {self._limits}", NAME)


def install(scratch: Scratch) -> None:
    """Permanently replace this interpreter's file functions."""
    for name in _FUNCTIONS:
        original = getattr(os, name, None)
        if original is not None:
            _replace(name, original, _wrapped(scratch, name, original))
    _replace("scandir", os.scandir, _scandir(scratch, os.scandir))
    for name in ("getcwd", "getcwdb"):
        setattr(os, name, _answering(scratch, getattr(os, name)))
    builtins.open = io.open = _open(scratch, io.open)
    sqlite3.connect = _connect(scratch, sqlite3.connect)
    # It keeps functions of os as defaults: reimport it on the next use.
    sys.modules.pop("tempfile", None)


def _replace(name: str, original: Any, replacement: Any) -> None:
    """Register the replacement wherever the standard library refers to the original."""
    setattr(os, name, replacement)
    if getattr(_GLOBBER, name, None) is original:
        setattr(_GLOBBER, name, staticmethod(replacement))
    for known in (os.supports_dir_fd, os.supports_effective_ids, os.supports_fd, os.supports_follow_symlinks):
        if original in known:
            known.add(replacement)


def _wrapped(scratch: Scratch, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    count = 2 if name in _TWO_PATHS else 1
    look = os.stat

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        given = [scratch.host(value) if place < count else value for place, value in enumerate(arguments)]
        named = {key: scratch.host(value) if key in _PATH_OPTIONS else value for key, value in options.items()}
        if name in _CREATING or (name == "open" and _writes(given, named)):
            scratch.check_room()
        with scratch.errors():
            try:
                result = function(*given, **named)
            except PermissionError:
                if not (scratch.frozen_attributes and name in _OF_ATTRIBUTES):
                    raise
                target = given[0] if given else named["path"]
                if not scratch.is_inside(target):
                    raise
                look(target, follow_symlinks=False)  # the refusal does not say whether it exists
                return None
        return scratch.program(result) if name == "readlink" else result

    return call


def _writes(arguments: list[Any], options: dict[str, Any]) -> bool:
    flags = arguments[1] if len(arguments) > 1 else options.get("flags", 0)
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def _answering(scratch: Scratch, function: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: scratch.program(function())


def _open(scratch: Scratch, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        path = scratch.host(file)
        if set(mode) & set("wax+"):
            scratch.check_room()
        with scratch.errors():
            opened = function(path, mode, *arguments, **options)
        if path != file and not isinstance(file, int):
            binary = getattr(opened, "buffer", opened)
            getattr(binary, "raw", binary).name = file
        return opened

    return call


def _connect(scratch: Scratch, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(database: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(database, str) and database.startswith(f"file:{NAME}/"):
            path = "file:" + scratch.host(database.removeprefix("file:"))
        else:
            path = scratch.host(database)
        scratch.check_room()
        return function(path, *arguments, **options)

    return call


def _scandir(scratch: Scratch, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(path: Any = ".") -> Any:
        host = scratch.host(path)
        with scratch.errors():
            entries = function(host)
        return entries if isinstance(path, int) or host == os.fspath(path) else _Entries(entries, os.fspath(path))

    return call


class _Entries:
    """The result of `os.scandir`, with the program's paths."""

    def __init__(self, entries: Any, directory: Any) -> None:
        self._entries = entries
        self._directory = directory

    def __iter__(self) -> Iterator["_Entry"]:
        return self

    def __next__(self) -> "_Entry":
        return _Entry(next(self._entries), self._directory)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        self._entries.close()


class _Entry:
    """An `os.DirEntry` under another path."""

    def __init__(self, entry: Any, directory: Any) -> None:
        self._entry = entry
        self.name: Any = entry.name
        self.path: Any = os.path.join(directory, entry.name)

    def __fspath__(self) -> Any:
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._entry, name)


def _is_below(path: str | bytes, directory: str) -> bool:
    text = os.fsdecode(path)
    return text == directory or text.startswith(directory + "/")


def _like(path: str | bytes, text: str) -> Any:
    return os.fsencode(text) if isinstance(path, bytes) else text
