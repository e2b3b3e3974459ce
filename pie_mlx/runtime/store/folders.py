"""Writes folders atomically: each exists completely or not at all, even after a crash."""

import fcntl
import os
import secrets
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from pie_mlx.files import create_file, make_private
from pie_mlx.runtime.file_tree import remove_tree
from pie_mlx.runtime.store.archive import Entry

_NEW, _OLD = ".new", ".old"
_PRIVATE_DIRECTORY = 0o700
_READ_ONLY_DIRECTORY, _READ_ONLY_FILE = 0o500, 0o400


@contextmanager
def exclusive(parent: Path) -> Generator[None]:
    """Hold the lock on `parent`, across threads and processes."""
    make_private(parent)
    with (parent / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def write_folder(folder: Path, entries: Iterable[Entry], *, read_only: bool = False) -> None:
    """Write a folder under a temporary name and rename it, replacing an existing one.

    Callers hold `exclusive`, or write each name only once. Raises OSError, and what `entries` raises.
    """
    make_private(folder.parent)
    fresh = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}{_NEW}")
    fresh.mkdir(mode=_PRIVATE_DIRECTORY)
    try:
        for entry in entries:
            make_private((fresh / entry.path).parent)
            create_file(fresh / entry.path, entry.data)
        _put_in_place(fresh, folder)
    except BaseException:
        remove_tree(fresh)
        raise
    if read_only:
        _protect(folder)


def names_in(parent: Path) -> list[str]:
    """The visible names in a folder; none if it does not exist."""
    return [name for name in _listed(parent) if not name.startswith(".")]


def repair(parent: Path) -> None:
    """Finish what a crash interrupted: restore a replaced folder unless its successor exists.

    Callers hold `exclusive`.
    """
    hidden = [name for name in _listed(parent) if name.startswith(".")]
    for name in hidden:
        if name.endswith(_OLD):
            _bring_back(parent / name, parent / name[1 : -len(_OLD)])
    for name in hidden:
        if name.endswith(_NEW):
            remove_tree(parent / name)


def _bring_back(aside: Path, folder: Path) -> None:
    if folder.exists():
        remove_tree(aside)
    else:
        aside.rename(folder)


def _listed(parent: Path) -> list[str]:
    try:
        return os.listdir(parent)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _put_in_place(fresh: Path, folder: Path) -> None:
    if not folder.exists():
        fresh.rename(folder)
        return
    aside = folder.with_name(f".{folder.name}{_OLD}")
    folder.rename(aside)
    fresh.rename(folder)
    remove_tree(aside)


def _protect(folder: Path) -> None:
    for place, _, files in os.walk(folder, topdown=False):
        for name in files:
            (Path(place) / name).chmod(_READ_ONLY_FILE)
        Path(place).chmod(_READ_ONLY_DIRECTORY)
