"""Unpacked programs, each in a directory named by its digest."""

import os
from collections.abc import Callable, Collection
from pathlib import Path

from pie_mlx.runtime.file_tree import remove_tree
from pie_mlx.runtime.store.archive import Entry, archive_entries
from pie_mlx.runtime.store.folders import exclusive, names_in, repair, write_folder
from pie_mlx.runtime.store.payload import Kind, main_name

UNUSED_SECONDS = 86400.0
"""How long a copy of an uninstalled program is kept, for processes started from it."""


class UnpackedPrograms:
    """A cache of read-only copies of programs. `clock` returns Unix time."""

    def __init__(self, root: Path, clock: Callable[[], float]) -> None:
        self._root = root
        self._clock = clock

    def put(self, program_hash: str, kind: Kind, payload: bytes) -> Path:
        """The directory of a program; unpacks it if necessary.

        Raises LaunchError for an invalid package, and leaves nothing of it behind.
        """
        folder = self._root / program_hash
        with exclusive(self._root):
            repair(self._root)
            if not folder.is_dir():
                entries = archive_entries(payload) if kind == "package" else iter([Entry(main_name(kind), payload)])
                write_folder(folder, entries, read_only=True)
            self._touch(folder)
        return folder

    def get(self, program_hash: str, kind: Kind, payload_file: Path) -> Path:
        """Like `put`, for a program in a file, which is read only if it is not unpacked yet. Raises OSError."""
        folder = self._root / program_hash
        if not folder.is_dir():
            return self.put(program_hash, kind, payload_file.read_bytes())
        self._touch(folder)
        return folder

    def sweep(self, kept: Callable[[], Collection[str]]) -> None:
        """Remove copies of programs that are not in `kept` and have not been used for a day."""
        with exclusive(self._root):
            unused = [name for name in names_in(self._root) if self._is_unused(self._root / name)]
            for name in set(unused) - set(kept() if unused else ()):
                remove_tree(self._root / name)

    def _is_unused(self, folder: Path) -> bool:
        return self._clock() - folder.stat().st_mtime > UNUSED_SECONDS

    def _touch(self, folder: Path) -> None:
        now = self._clock()
        os.utime(folder, (now, now))
