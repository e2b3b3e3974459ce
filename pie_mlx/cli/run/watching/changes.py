"""Changes of a program's files.

They are looked at a few times a second: a program has few files, nothing has to be installed for it, and editors that
replace a file by another one, mounted folders and containers need no care.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

POLL_SECONDS = 0.1
_LEFT_OUT = frozenset({"__pycache__", "dist"})

Snapshot = Mapping[Path, tuple[int, int, int]]
"""Time of change, size and inode of every file that exists."""


def snapshot(paths: Sequence[Path]) -> Snapshot:
    """Of files, and of all files in directories except hidden ones and what was built from them."""
    return {file: facts for path in paths for file in _files(path) if (facts := _facts(file)) is not None}


async def next_change(known: Snapshot, look: Callable[[], Snapshot]) -> Snapshot:
    """Wait until something is different from `known` and has come to rest: an editor may write in several steps.

    A single file that is missing is about to be written.
    """
    found = known
    while True:
        await asyncio.sleep(POLL_SECONDS)
        before, found = found, look()
        if found and found != known and found == before:
            return found


def changed_names(before: Snapshot, after: Snapshot) -> list[str]:
    """The names of the files that differ, in order."""
    return sorted({file.name for file in {*before, *after} if before.get(file) != after.get(file)})


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if not (name.startswith(".") or name in _LEFT_OUT)]
        yield from (Path(folder, name) for name in names if not name.startswith("."))


def _facts(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
