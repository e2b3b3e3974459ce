"""Uploads of one connection, in chunks: programs by request, files by process and hash."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from blake3 import blake3

from pie_mlx.errors import LaunchError, ProtocolError
from pie_mlx.runtime.program.manifest import parse_manifest
from pie_mlx.server.frames import AddProgram, TransferFile


@dataclass(slots=True)
class Upload:
    """Chunks of one payload, in order, up to `limit_bytes`. `heard_seconds` is the time of the latest chunk."""

    total: int
    limit_bytes: int
    chunks: list[bytes] = field(default_factory=list[bytes])
    size_bytes: int = 0
    heard_seconds: float = 0.0

    @property
    def expected(self) -> int:
        return len(self.chunks)

    @property
    def is_complete(self) -> bool:
        return len(self.chunks) == self.total

    def add_chunk(self, index: int, total: int, data: bytes) -> None:
        """Raises ProtocolError for a chunk out of order, or beyond the limit."""
        if not self.chunks and index != 0:
            raise ProtocolError("First chunk index must be 0")
        if total != self.total:
            raise ProtocolError(f"Chunk count mismatch: expected {self.total}, got {total}")
        if index != self.expected:
            raise ProtocolError(f"Out-of-order chunk: expected {self.expected}, got {index}")
        if self.size_bytes + len(data) > self.limit_bytes:
            raise ProtocolError(f"upload exceeds max_upload_mb cap of {self.limit_bytes >> 20} MiB")
        self.chunks.append(data)
        self.size_bytes += len(data)

    def payload(self) -> bytes:
        return b"".join(self.chunks)


PROGRAMS_LIMIT, FILES_LIMIT = 4, 16
PAUSE_SECONDS = 60.0

FileKey = tuple[str, str]


@dataclass(slots=True)
class ProgramUploads:
    """Uploads of programs. The rest of a refused one is discarded: clients send all of it before reading an answer."""

    limit_bytes: int
    pause_seconds: float = PAUSE_SECONDS
    clock: Callable[[], float] = time.monotonic
    beside: Callable[..., Awaitable[Any]] = asyncio.to_thread
    """What a function answers on another thread."""
    _uploads: dict[int, Upload] = field(default_factory=dict[int, Upload])
    _refused: dict[int, int] = field(default_factory=dict[int, int])

    async def add_chunk(self, frame: AddProgram) -> bytes | None:
        """The payload once it is complete; None before, and for the rest of a refused upload.

        Raises ProtocolError for invalid chunks, LaunchError for an invalid manifest.
        """
        number = frame.corr_id
        if number in self._refused:
            self._swallow(frame)
            return None
        try:
            upload = self._uploads.get(number) or await self._begin(frame)
            upload.add_chunk(frame.chunk_index, frame.total_chunks, frame.chunk_data)
            upload.heard_seconds = self.clock()
            if not upload.is_complete:
                return None
            del self._uploads[number]
            return _verified(upload.payload(), frame.program_hash)
        except (ProtocolError, LaunchError):
            self._uploads.pop(number, None)
            if frame.chunk_index + 1 < frame.total_chunks:
                self._refused[number] = frame.total_chunks
            raise

    def stalled(self) -> list[int]:
        """Abandon uploads without chunks for too long; returns their requests."""
        late = [number for number, upload in self._uploads.items() if self._is_late(upload)]
        for number in late:
            self._refused[number] = self._uploads.pop(number).total
        return late

    async def _begin(self, frame: AddProgram) -> Upload:
        if len(self._uploads) >= PROGRAMS_LIMIT:
            raise ProtocolError(f"{PROGRAMS_LIMIT} programs are being uploaded on this connection already")
        if frame.chunk_index != 0:
            raise ProtocolError("First chunk index must be 0")
        await self.beside(parse_manifest, frame.manifest)
        upload = self._uploads[frame.corr_id] = Upload(frame.total_chunks, self.limit_bytes)
        return upload

    def _swallow(self, frame: AddProgram) -> None:
        if frame.chunk_index + 1 >= self._refused[frame.corr_id]:
            del self._refused[frame.corr_id]

    def _is_late(self, upload: Upload) -> bool:
        return upload.heard_seconds + self.pause_seconds < self.clock()


@dataclass(slots=True)
class FileUploads:
    """Uploads of files. Equal files may overlap: a chunk goes to the oldest upload that expects its index."""

    limit_bytes: int
    pause_seconds: float = PAUSE_SECONDS
    clock: Callable[[], float] = time.monotonic
    _uploads: dict[FileKey, list[Upload]] = field(default_factory=dict[FileKey, list[Upload]])
    _refused: dict[FileKey, int] = field(default_factory=dict[FileKey, int])

    def add_chunk(self, frame: TransferFile) -> bytes | None:
        """The file once it is complete; None before, and for the rest of a refused one. Raises ProtocolError."""
        key = (frame.process_id, frame.file_hash)
        if key in self._refused and frame.chunk_index:
            if frame.chunk_index + 1 >= self._refused[key]:
                del self._refused[key]
            return None
        self._refused.pop(key, None)
        try:
            return self._add_to_upload(key, frame)
        except ProtocolError:
            self.refuse(frame)
            raise

    def refuse(self, frame: TransferFile) -> None:
        """Discard the rest of this file."""
        key = (frame.process_id, frame.file_hash)
        self._uploads.pop(key, None)
        if frame.chunk_index + 1 < frame.total_chunks:
            self._refused[key] = frame.total_chunks

    def stalled(self) -> list[FileKey]:
        """Abandon files without chunks for too long; returns their keys."""
        late = [key for key, uploads in self._uploads.items() if any(map(self._is_late, uploads))]
        for key in late:
            self._refused[key] = self._uploads.pop(key)[0].total
        return late

    def _add_to_upload(self, key: FileKey, frame: TransferFile) -> bytes | None:
        uploads = self._uploads.setdefault(key, [])
        upload = next((found for found in uploads if found.expected == frame.chunk_index), None)
        if upload is None:
            upload = self._begin(key, frame)
        upload.add_chunk(frame.chunk_index, frame.total_chunks, frame.chunk_data)
        upload.heard_seconds = self.clock()
        if not upload.is_complete:
            return None
        uploads.remove(upload)
        if not uploads:
            del self._uploads[key]
        return _verified(upload.payload(), frame.file_hash, what="File")

    def _begin(self, key: FileKey, frame: TransferFile) -> Upload:
        uploads = self._uploads[key]
        if frame.chunk_index != 0 and uploads:
            raise ProtocolError(f"Out-of-order chunk: expected {uploads[0].expected}, got {frame.chunk_index}")
        if sum(map(len, self._uploads.values())) >= FILES_LIMIT:
            raise ProtocolError(f"{FILES_LIMIT} files are being sent on this connection already")
        upload = Upload(frame.total_chunks, self.limit_bytes)
        uploads.append(upload)
        return upload

    def _is_late(self, upload: Upload) -> bool:
        return upload.heard_seconds + self.pause_seconds < self.clock()


def _verified(payload: bytes, expected: str, what: str = "Program") -> bytes:
    found = blake3(payload).hexdigest()
    if found != expected:
        raise ProtocolError(f"{what} hash mismatch: expected {expected[:64]}, got {found}")
    return payload
