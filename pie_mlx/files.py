"""Files that exist whole or not at all, private directories, and safe names."""

import contextlib
import errno
import os
import secrets
import stat
import unicodedata
from pathlib import Path

PRIVATE, SHARED = 0o600, 0o666
"""Modes of new files; the user's umask reduces both."""
NAME_BYTES = 200
"""The longest safe name: file systems take 255 bytes, and a number or a suffix may be added."""
REPLACING = ".new"
"""The end of the name of a file until it is whole."""
_SUFFIX_BYTES = 20


def create_file(path: Path, data: bytes, mode: int = PRIVATE) -> None:
    """Write a file that does not exist yet, not even as a link. Raises OSError and then leaves nothing behind."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(path)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)
        raise


def write_file(path: Path, data: bytes, mode: int = PRIVATE) -> None:
    """Replace a file atomically. Raises OSError and then changes nothing."""
    unfinished = path.with_name(f".{secrets.token_hex(8)}{REPLACING}")
    try:
        create_file(unfinished, data, mode)
        try:
            os.replace(unfinished, path)
        except BaseException:
            os.unlink(unfinished)
            raise
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def make_private(directory: Path) -> None:
    """Make a directory and its missing parents, for the owner alone. An existing one stays as it is.

    Raises OSError.
    """
    for missing in [place for place in (*reversed(directory.parents), directory) if not place.exists()]:
        missing.mkdir(mode=stat.S_IRWXU, exist_ok=True)


def make_own(directory: Path) -> None:
    """The same, but raises PermissionError for another user's directory and for one that others can write in."""
    make_private(directory)
    found = directory.stat()
    if found.st_uid != os.geteuid():
        raise PermissionError(errno.EACCES, "it belongs to another user", str(directory))
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(errno.EACCES, "others can write in it", str(directory))


def require_private(directory: Path) -> None:
    """Raises PermissionError unless a directory belongs to this user and is closed to others."""
    found = directory.stat()
    if stat.S_IMODE(found.st_mode) & (stat.S_IRWXG | stat.S_IRWXO) or found.st_uid != os.geteuid():
        raise PermissionError(f"{directory} must belong to you and be closed to others (chmod 700)")


def disk_hint(error: OSError, otherwise: str) -> str:
    """What to do about a file that cannot be written: make room if the disk is full, `otherwise` if it is not."""
    return "make room on that disk" if error.errno in (errno.ENOSPC, errno.EDQUOT) else otherwise


def safe_name(name: str) -> str:
    """A name that stays in its directory, is visible there and does nothing to a terminal; "" if nothing is left.

    Only what follows the last slash counts. Control and format characters become '_', and so does a first dot or dash.
    """
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    plain = "".join("_" if unicodedata.category(char)[0] == "C" else char for char in last).strip().rstrip(". ")
    if plain.startswith((".", "-")):
        plain = f"_{plain[1:]}"
    stem, dot, suffix = plain.rpartition(".")
    ending = f"{dot}{suffix}" if stem and len(suffix.encode()) < _SUFFIX_BYTES else ""
    return _cut(plain.removesuffix(ending), NAME_BYTES - len(ending.encode())) + ending


def _cut(text: str, size_bytes: int) -> str:
    return text.encode()[:size_bytes].decode(errors="ignore")
