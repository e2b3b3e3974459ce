"""Reads untrusted packages, with checks before and while their entries are read."""

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.store.entry_names import EntryNames, refused

ENTRY_LIMIT = 4096
UNPACKED_LIMIT_BYTES = 512 << 20
GROWTH_LIMIT = 100
"""Unpacked bytes to packed ones."""

DIRECTORY_LIMIT_BYTES = ENTRY_LIMIT * 2048
_PIECE_BYTES = 1 << 20
_END = struct.Struct("<4s4H2LH")
_END_SIGNATURE = b"PK\x05\x06"
_LOCATOR_BYTES, _LOCATOR_SIGNATURE = 20, b"PK\x06\x07"
_COMMENT_LIMIT_BYTES = 1 << 16
_ENCRYPTED = 0x1 | 0x40
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, UnicodeDecodeError, struct.error, ValueError, OSError)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a package: its path with slashes, and its bytes."""

    path: str
    data: bytes


def archive_entries(payload: bytes) -> Iterator[Entry]:
    """Yield the files of a package; folders follow from their paths.

    Sizes are counted while unpacking, since headers may lie. Raises LaunchError that names an invalid entry, at the
    latest when reaching it; entries yielded before must then be discarded.
    """
    budget = min(UNPACKED_LIMIT_BYTES, GROWTH_LIMIT * len(payload))
    with _opened(payload) as archive:
        members = archive.infolist()
        _check_members(members)
        for member in members:
            if not _is_folder(member):
                data = _read(archive, member, budget)
                budget -= len(data)
                yield Entry(member.filename, data)


def _opened(payload: bytes) -> zipfile.ZipFile:
    _check_directory_size(payload)
    try:
        return zipfile.ZipFile(io.BytesIO(payload))
    except (*_DAMAGED, NotImplementedError) as error:
        raise _damaged(error) from None


def _check_directory_size(payload: bytes) -> None:
    """Check the directory before it is turned into objects."""
    end = _end_record(payload)
    if end is None:
        raise _damaged("it has no end")
    count, size = end
    if count > ENTRY_LIMIT or size > DIRECTORY_LIMIT_BYTES:
        raise LaunchError(f"package: more than {ENTRY_LIMIT} entries", hint="keep large data outside of the program")


def _end_record(payload: bytes) -> tuple[int, int] | None:
    """Number of entries and size of the directory, located as the zip reader does."""
    place = len(payload) - _END.size
    if place < 0:
        return None
    if payload[place : place + 4] != _END_SIGNATURE or payload[-2:] != b"\0\0":
        place = payload.rfind(_END_SIGNATURE, max(0, place - _COMMENT_LIMIT_BYTES))
        if place < 0 or place + _END.size > len(payload):
            return None
    if payload[max(0, place - _LOCATOR_BYTES) : place].startswith(_LOCATOR_SIGNATURE):
        raise _damaged("ZIP64 is not supported")
    _, _, _, _, count, size, _, _ = _END.unpack_from(payload, place)
    return count, size


def _check_members(members: list[zipfile.ZipInfo]) -> None:
    if len(members) > ENTRY_LIMIT:
        raise LaunchError(f"package: more than {ENTRY_LIMIT} entries", hint="keep large data outside of the program")
    names = EntryNames()
    for member in members:
        folder = _is_folder(member)
        # The reader cuts names at a NUL; the original name counts.
        names.check_and_add(member.orig_filename.removesuffix("/") if folder else member.orig_filename, folder=folder)
        if why := _member_problem(member):
            raise refused(member.orig_filename, why)


def _is_folder(member: zipfile.ZipInfo) -> bool:
    return member.filename.endswith("/")


def _member_problem(member: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "a symbolic link"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "neither a file nor a directory"
    if kind and (kind == stat.S_IFDIR) != _is_folder(member):
        return "a directory by its mode alone" if kind == stat.S_IFDIR else "a file that is named as a directory"
    if member.flag_bits & _ENCRYPTED:
        return "encrypted"
    if member.compress_type not in _METHODS:
        return f"compressed by method {member.compress_type}: only stored and deflated entries are read"
    return ""


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo, budget: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    try:
        with archive.open(member) as file:
            while piece := file.read(_PIECE_BYTES):
                size += len(piece)
                if size > budget:
                    raise refused(member.filename, _too_large())
                pieces.append(piece)
    except (*_DAMAGED, NotImplementedError, RuntimeError) as error:
        raise refused(member.filename, f"damaged: {error}") from None
    return b"".join(pieces)


def _too_large() -> str:
    return f"unpacked, the package is more than {UNPACKED_LIMIT_BYTES >> 20} MiB or {GROWTH_LIMIT} times its size"


def _damaged(why: object) -> LaunchError:
    return LaunchError(f"package: not a zip archive: {why}", hint="make it again with 'pie build'")
