"""Programs unpacked, each in a directory named by its digest."""

import os
from collections.abc import Callable, Collection
from pathlib import Path

from pie_mlx.runtime.file_tree import remove_tree
from pie_mlx.runtime.program.program import MAIN_FILE
from pie_mlx.runtime.store.archive import Entry, archive_entries
from pie_mlx.runtime.store.folders import exclusive, names_in, repair, write_folder
from pie_mlx.runtime.store.payload import Kind

UNUSED_SECONDS = 86400.0
"""How long a copy nobody has installed any more is kept for the processes that were started from it."""


class UnpackedPrograms:
    """Read-only copies of programs. They can all be made again; `clock` gives seconds since 1970."""

    def __init__(self, root: Path, clock: Callable[[], float]) -> None:
        self._root = root
        self._clock = clock

    def put(self, program_hash: str, kind: Kind, payload: bytes) -> Path:
        """The directory of a program, unpacked now unless it has been before.

        Raises LaunchError for a package that breaks a rule; nothing of it is left behind then.
        """
        folder = self._root / program_hash
        with exclusive(self._root):
            repair(self._root)
            if not folder.is_dir():
                entries = archive_entries(payload) if kind == "package" else iter([Entry(MAIN_FILE, payload)])
                write_folder(folder, entries, read_only=True)
            self._touch(folder)
        return folder

    def get(self, program_hash: str, kind: Kind, payload_file: Path) -> Path:
        """The same for a program in a file, which is read only if it is not unpacked. Raises OSError."""
        folder = self._root / program_hash
        if not folder.is_dir():
            return self.put(program_hash, kind, payload_file.read_bytes())
        self._touch(folder)
        return folder

    def sweep(self, kept: Callable[[], Collection[str]]) -> None:
        """Remove the copies of programs that are not among `kept` and have not been asked for in a day."""
        with exclusive(self._root):
            unused = [name for name in names_in(self._root) if self._is_unused(self._root / name)]
            for name in set(unused) - set(kept() if unused else ()):
                remove_tree(self._root / name)

    def _is_unused(self, folder: Path) -> bool:
        return self._clock() - folder.stat().st_mtime > UNUSED_SECONDS

    def _touch(self, folder: Path) -> None:
        now = self._clock()
        os.utime(folder, (now, now))
