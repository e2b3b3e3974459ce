"""Cuts what was received into frames."""

import socket

from pie_mlx.errors import ProtocolError
from pie_mlx.runtime.worker.frames import FRAME_LIMIT_BYTES, LENGTH

READ_BYTES = 64 << 10
"""How much is asked of a socket at once."""

Payload = bytes | memoryview


class FrameCutter:
    """Leaves a consistent state behind before it answers, so that it may be entered again from a finalizer."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._start = 0
        """Of the next frame; beyond the buffer while the rest of a skipped one is on its way."""
        self._received = bytearray(READ_BYTES)

    def receive(self, link: socket.socket) -> int:
        """Take in what has come; how many bytes, 0 at the end. Raises OSError.

        Into the same memory each time: new memory of this size costs more than all else a decode step does here.
        """
        count = link.recv_into(self._received, READ_BYTES)
        self.feed(self._received if count == READ_BYTES else self._received[:count])
        return count

    def feed(self, data: bytes | bytearray) -> None:
        if self._start:
            gone = min(self._start, len(self._buffer))
            del self._buffer[:gone]
            self._start -= gone
        self._buffer += data

    def length(self) -> int | None:
        """Of the next frame, None until that has come. Raises ProtocolError for what is too long."""
        if len(self._buffer) < self._start + LENGTH.size:
            return None
        (length,) = LENGTH.unpack_from(self._buffer, self._start)
        if length > FRAME_LIMIT_BYTES:
            raise ProtocolError(f"frame of {length} bytes: the limit is {FRAME_LIMIT_BYTES}")
        return length

    def beginning(self, size_bytes: int) -> bytes:
        """So much of the next frame, or what has come of that."""
        begin = self._start + LENGTH.size
        return bytes(self._buffer[begin : begin + size_bytes])

    def cut(self, length: int) -> Payload | None:
        """The next frame, of that length, once all of it is there."""
        begin = self._start + LENGTH.size
        end = begin + length
        if len(self._buffer) < end:
            return None
        if length < READ_BYTES:
            self._start = end
            return bytes(self._buffer[begin:end])
        # Not copied: that would be another block of memory as long as a file.
        whole, self._buffer, self._start = self._buffer, self._buffer[end:], 0
        return memoryview(whole)[begin:end]

    def skip(self, length: int) -> None:
        """Leave out the next frame, of that length, whether it has come or not."""
        self._start += LENGTH.size + length
