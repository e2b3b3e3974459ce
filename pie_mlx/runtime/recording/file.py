"""Recordings on disk: a line with the version, then frames: length and checksum (4 bytes each) and msgpack.

A file that was cut short ends with its last whole frame. Files may come from strangers: frames and files are bounded,
and decoded strictly.
"""

import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.files import PRIVATE
from pie_mlx.msgpack_count import Counts, count
from pie_mlx.runtime.recording.entries import VERSION, AnyEntry, Begun
from pie_mlx.runtime.worker.frames.messages import FRAME_LIMIT_BYTES, UNREADABLE

MAGIC = b"pie recording "
_HEADER = MAGIC + f"{VERSION:04d}\n".encode()
_FRAME = struct.Struct("<II")
FILE_LIMIT_BYTES = 512 << 20
LIMITS = Counts(values=8 << 20, containers=2 << 20)
"""Limits of all frames together: they bound the memory that a file takes once it is decoded."""


class RecordingWriter:
    """Writes a new recording, which only its owner can read. Each frame is handed to the system at once, so a killed
    process loses none.

    An earlier recording of that name is replaced. Raises InvalidArgumentError for any other file, OSError.
    """

    def __init__(self, path: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._file = open(os.open(path, flags, PRIVATE), "r+b", buffering=0)  # noqa: SIM115 - closed by `close`
        beginning = self._file.read(len(MAGIC))
        if beginning and beginning != MAGIC:
            self._file.close()
            raise InvalidArgumentError(f"{path}: it is there already and is no recording", hint="name another file")
        os.fchmod(self._file.fileno(), PRIVATE)
        self._file.seek(0)
        self._file.truncate()
        self._file.write(_HEADER)
        self._encoder = msgspec.msgpack.Encoder()

    def write(self, entry: AnyEntry) -> None:
        """Raises OSError, for example where the disk is full; the file then ends with the frames before."""
        payload = self._encoder.encode(entry)
        data = memoryview(_FRAME.pack(len(payload), zlib.crc32(payload)) + payload)
        while data:
            data = data[self._file.write(data) :]

    def close(self) -> None:
        self._file.close()


@dataclass(frozen=True, slots=True)
class Recording:
    """The content of a file. `torn`: it was cut short."""

    begun: Begun
    entries: tuple[AnyEntry, ...]
    torn: bool


def read_recording(path: Path) -> Recording:
    """Raises InvalidArgumentError for a file that is no recording, a newer or too large one, or none that can be
    read."""
    try:
        with path.open("rb") as file:
            size_bytes = os.fstat(file.fileno()).st_size
            if size_bytes > FILE_LIMIT_BYTES:
                raise _refusal(path, f"{size_bytes} bytes, the limit is {FILE_LIMIT_BYTES}")
            _check_version(path, file.readline(len(_HEADER)))
            return _recording(path, file)
    except OSError as error:
        raise _refusal(path, (error.strerror or str(error)).lower()) from None


def _check_version(path: Path, header: bytes) -> None:
    version = header[len(MAGIC) :].strip()
    if not header.startswith(MAGIC) or not version.isdigit():
        raise _refusal(path, "not a recording")
    if int(version) > VERSION:
        raise InvalidArgumentError(
            f"{path}: a recording of version {int(version)}, this pie-mlx reads {VERSION}",
            hint="replay it with a newer pie-mlx",
        )


def _recording(path: Path, file: BinaryIO) -> Recording:
    decoder = msgspec.msgpack.Decoder(AnyEntry)
    entries: list[AnyEntry] = []
    values = containers = 0
    end = file.tell()
    for payload in _payloads(path, file):
        end = file.tell()
        found = count(payload, LIMITS)
        values, containers = values + found.values, containers + found.containers
        if not Counts(values, containers).within(LIMITS):
            raise _refusal(path, "it holds too many values")
        try:
            entries.append(decoder.decode(payload))
        except UNREADABLE as error:
            raise _refusal(path, f"damaged: {error}") from None
    if not entries or not isinstance(entries[0], Begun):
        raise _refusal(path, "it ends before it begins")
    return Recording(entries[0], tuple(entries[1:]), torn=end < os.fstat(file.fileno()).st_size)


def _payloads(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """The whole frames. One that was cut short ends them."""
    while len(head := file.read(_FRAME.size)) == _FRAME.size:
        length, checksum = _FRAME.unpack(head)
        if length > FRAME_LIMIT_BYTES:
            raise _refusal(path, f"a frame of {length} bytes, the limit is {FRAME_LIMIT_BYTES}")
        payload = file.read(length)
        if len(payload) < length or zlib.crc32(payload) != checksum:
            return
        yield payload


def _refusal(path: Path, why: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"{path}: {why}", hint="name a file that 'pie run --record' wrote")
