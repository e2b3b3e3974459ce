"""Makes packages of program directories; the same tree gives the same bytes on any machine."""

import io
import os
import stat
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.program.program import MANIFEST_FILE
from pie_mlx.runtime.store.archive import ENTRY_LIMIT, UNPACKED_LIMIT_BYTES, Entry
from pie_mlx.runtime.store.entry_names import EntryNames, refused

_EPOCH = (1980, 1, 1, 0, 0, 0)
_MODE = stat.S_IFREG | 0o644
_UNIX = 3
_LEFT_OUT_AT_TOP = ("dist", "tests")


def pack_directory(directory: Path, manifest_text: str, exclude: Iterable[str] = ()) -> bytes:
    """Pack a directory, without hidden files, byte code, `dist`, `tests` and what `exclude` matches.

    `manifest_text` becomes its Pie.toml if the directory has none. Raises LaunchError that names a file which is
    unreadable or not allowed in a package.
    """
    entries = {entry.path: entry for entry in _directory_entries(directory, tuple(exclude))}
    entries.setdefault(MANIFEST_FILE, Entry(MANIFEST_FILE, manifest_text.encode()))
    return pack(entries.values())


def pack_module(source: bytes, manifest_text: str, main_file: str = "main.py") -> bytes:
    """Pack one module, under the name `main_file`."""
    return pack([Entry(main_file, source), Entry(MANIFEST_FILE, manifest_text.encode())])


def pack(entries: Iterable[Entry]) -> bytes:
    """Pack files, ordered by path. Raises LaunchError for what a package cannot contain."""
    ordered = sorted(entries, key=lambda entry: entry.path)
    _check(ordered)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for entry in ordered:
            archive.writestr(_header(entry.path), entry.data)
    return buffer.getvalue()


def _header(path: str) -> zipfile.ZipInfo:
    header = zipfile.ZipInfo(path, _EPOCH)
    header.create_system = _UNIX
    header.external_attr = _MODE << 16
    return header


def _check(entries: list[Entry]) -> None:
    names = EntryNames()
    for entry in entries:
        names.check_and_add(entry.path, folder=False)
    if len(entries) > ENTRY_LIMIT:
        raise LaunchError(f"package: more than {ENTRY_LIMIT} entries", hint="leave files out with [package] exclude")
    if sum(len(entry.data) for entry in entries) > UNPACKED_LIMIT_BYTES:
        limit = f"{UNPACKED_LIMIT_BYTES >> 20} MiB"
        raise LaunchError(f"package: more than {limit}", hint="leave files out with [package] exclude")


def _directory_entries(directory: Path, exclude: tuple[str, ...]) -> Iterator[Entry]:
    for folder, folders, files in os.walk(directory):
        place = PurePosixPath(Path(folder).relative_to(directory).as_posix())
        folders[:] = [name for name in folders if _is_kept(place / name, exclude)]
        for name in [*files, *(name for name in folders if (Path(folder) / name).is_symlink())]:
            path = place / name
            if _is_kept(path, exclude):
                yield Entry(unicodedata.normalize("NFC", str(path)), _read(Path(folder) / name, str(path)))


def _is_kept(path: PurePosixPath, exclude: tuple[str, ...]) -> bool:
    name = path.name
    if name.startswith(".") or name == "__pycache__" or name.endswith(".pyc"):
        return False
    if len(path.parts) == 1 and name in _LEFT_OUT_AT_TOP:
        return False
    return not any(fnmatchcase(str(path), pattern.rstrip("/")) for pattern in exclude)


def _read(file: Path, path: str) -> bytes:
    kind = file.lstat().st_mode
    if stat.S_ISLNK(kind):
        raise refused(path, "a symbolic link")
    if not stat.S_ISREG(kind):
        raise refused(path, "neither a file nor a directory")
    try:
        return file.read_bytes()
    except OSError as error:
        raise refused(path, error.strerror or "cannot be read") from None
