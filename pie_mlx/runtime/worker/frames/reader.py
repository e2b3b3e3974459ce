"""Cuts received bytes into frames and decodes them."""

import re
import socket
from typing import NamedTuple

from pie_mlx.errors import InvalidArgumentError, ProtocolError
from pie_mlx.msgpack_count import Counts, block_bytes, count
from pie_mlx.runtime.worker.frames.messages import (
    FRAME_LIMIT_BYTES,
    LENGTH,
    UNREADABLE,
    FromEngine,
    FromWorker,
    InvalidCall,
    engine_frames,
    rescued,
    worker_frames,
)
from pie_mlx.runtime.worker.frames.size_budgets import BUDGETS, USUAL, Budget

READ_BYTES = 64 << 10
"""Bytes read from a socket at once."""

Payload = bytes | memoryview


class FrameCutter:
    """Cuts bytes into frames. Consistent whenever a method returns, so a finalizer may reenter it."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._start = 0
        """Start of the next frame; beyond the buffer until the rest of a skipped frame has arrived."""
        self._received = bytearray(READ_BYTES)

    def receive(self, link: socket.socket, most_bytes: int = READ_BYTES) -> int:
        """Read what has arrived; returns the number of bytes, 0 at the end. Raises OSError.

        Reuses its memory: allocating this size costs more than everything else in a decode step here.
        """
        count = link.recv_into(self._received, most_bytes)
        self.feed(self._received if count == READ_BYTES else self._received[:count])
        return count

    def feed(self, data: bytes | bytearray) -> None:
        if self._start:
            gone = min(self._start, len(self._buffer))
            del self._buffer[:gone]
            self._start -= gone
        self._buffer += data

    def missing_bytes(self) -> int:
        """How much of the next frame, or first of its length, has not arrived."""
        length = self.length()
        return LENGTH.size + (length or 0) - (len(self._buffer) - self._start)

    def length(self) -> int | None:
        """Length of the next frame, None until it has arrived. Raises ProtocolError if it is too long."""
        if len(self._buffer) < self._start + LENGTH.size:
            return None
        (length,) = LENGTH.unpack_from(self._buffer, self._start)
        if length > FRAME_LIMIT_BYTES:
            raise ProtocolError(f"frame of {length} bytes: the limit is {FRAME_LIMIT_BYTES}")
        return length

    def beginning(self, size_bytes: int) -> bytes:
        """The first bytes of the next frame, as far as they have arrived."""
        begin = self._start + LENGTH.size
        return bytes(self._buffer[begin : begin + size_bytes])

    def cut(self, length: int) -> Payload | None:
        """Remove and return the next frame, of that length, once it is complete."""
        begin = self._start + LENGTH.size
        end = begin + length
        if len(self._buffer) < end:
            return None
        if length < READ_BYTES:
            self._start = end
            return bytes(self._buffer[begin:end])
        # Not copied: that would need another block as long as a file.
        whole, self._buffer, self._start = self._buffer, self._buffer[end:], 0
        return memoryview(whole)[begin:end]

    def skip(self, length: int) -> None:
        """Skip the next frame, of that length, even if it is incomplete."""
        self._start += LENGTH.size + length


SHORT_BYTES = 2 << 10
"""Frames of decode steps are shorter: their values are not counted."""
SWIFT_BYTES = 16 << 10
SWIFT_COUNTS = Counts(values=1_024, containers=256)
"""Limits for decoding on the loop; larger frames are decoded on another thread."""

_BYTE_WEIGHT, _VALUE_WEIGHT, _CONTAINER_WEIGHT = 64, 40, 200
"""Estimated bytes of memory per byte of an uncounted frame, per value and per container."""
_FIRST_VALUES = 64
"""A block of bytes starts within so many values: calls have fewer fields."""

_HEAD = re.compile(
    rb"[\x91-\x9F](?:\xA7request(?P<number>[\x00-\x7F]|\xCC.|\xCD..|\xCE.{4}|\xCF.{8})"
    rb"(?:(?:[\x80-\x8F]|\xDE..)\xA4call[\xA0-\xBF](?P<call>[a-z_]*))?|[\xA0-\xBF](?P<kind>[a-z_]*))",
    re.DOTALL,
)


class _Head(NamedTuple):
    """The kind of a frame, and the `number` if it is a call."""

    kind: str
    number: int | None = None

    @property
    def budget(self) -> Budget:
        return BUDGETS.get(self.kind, USUAL)

    def refused(self, error: InvalidArgumentError) -> InvalidCall:
        """Raises ProtocolError unless there is a call to answer."""
        if self.number is None:
            raise ProtocolError(error.message) from None
        return InvalidCall(self.number, error)


class LongFrame:
    """A complete frame of a worker that takes long to decode."""

    def __init__(self, payload: Payload, head: _Head) -> None:
        self._payload, self._head = payload, head
        self.held_bytes = 0
        """Its memory, once it is decoded."""

    @property
    def is_swift(self) -> bool:
        """Whether it can be decoded on the engine's loop."""
        length = len(self._payload)
        return length <= SWIFT_BYTES or (
            length <= USUAL.size_bytes and count(self._payload, SWIFT_COUNTS).within(SWIFT_COUNTS)
        )

    def decode(self) -> FromWorker:
        """Decode, on any thread. Raises ProtocolError if it is malformed."""
        budget = self._head.budget
        found = count(self._payload, budget.most)
        self.held_bytes = _held_bytes(len(self._payload), found)
        try:
            budget.check_counts(self._head.kind, found)
        except InvalidArgumentError as error:
            return self._head.refused(error)
        return _decoded(self._payload)


class WorkerFrames(FrameCutter):
    """Decodes what a worker sends."""

    def __init__(self) -> None:
        super().__init__()
        self._head: _Head | None = None
        """Head of the next frame, once its size is known to be allowed."""
        self.held_bytes = 0
        """Memory of the frame returned last."""

    @property
    def awaited_bytes(self) -> int:
        """Length of a long frame that is arriving, 0 for none."""
        return (self.length() or 0) if self._head is not None else 0

    def next_frame(self) -> FromWorker | LongFrame | None:
        """The next frame, None until it is complete. Raises ProtocolError if it is malformed."""
        length = self.length()
        if length is None:
            return None
        if length > SHORT_BYTES:
            return self._next_weighed(length)
        payload = self.cut(length)
        if payload is None:
            return None
        self.held_bytes = _BYTE_WEIGHT * length
        return _decoded(payload)

    def _next_weighed(self, length: int) -> FromWorker | LongFrame | None:
        if self._head is None:
            beginning = self.beginning(READ_BYTES)
            if len(beginning) < min(length, READ_BYTES):
                return None
            head = _head(beginning)
            try:
                head.budget.check_size(head.kind, length - min(length, block_bytes(beginning, _FIRST_VALUES)))
            except InvalidArgumentError as error:
                self.skip(length)
                self.held_bytes = SHORT_BYTES
                return head.refused(error)
            self._head = head
        payload = self.cut(length)
        if payload is None:
            return None
        frame = LongFrame(payload, self._head)
        self._head = None
        if not frame.is_swift:
            return frame
        decoded = frame.decode()
        self.held_bytes = frame.held_bytes
        return decoded


class EngineFrames(FrameCutter):
    """Decodes what the engine sends."""

    def next_frame(self) -> FromEngine | None:
        """The next frame, None until it is complete. Raises ProtocolError if it is malformed."""
        length = self.length()
        payload = None if length is None else self.cut(length)
        if payload is None:
            return None
        try:
            return engine_frames.decode(payload)
        except UNREADABLE as error:
            raise ProtocolError(f"malformed frame: {error}") from None


def _head(beginning: bytes) -> _Head:
    found = _HEAD.match(beginning)
    if found is None:
        return _Head("frame")
    if found["number"] is None:
        return _Head(found["kind"].decode())
    number = found["number"]
    value = number if len(number) == 1 else number[1:]
    return _Head((found["call"] or b"request").decode(), int.from_bytes(value, "big"))


def _held_bytes(length: int, found: Counts) -> int:
    return length + _VALUE_WEIGHT * found.values + _CONTAINER_WEIGHT * found.containers


def _decoded(payload: Payload) -> FromWorker:
    try:
        return worker_frames.decode(payload)
    except UNREADABLE as error:
        if (found := rescued(payload, error)) is not None:
            return found
        raise ProtocolError(f"malformed frame: {error}") from None
