"""Frames of one direction, decoded."""

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
    InvalidRequest,
    engine_frames,
    rescued,
    worker_frames,
)
from pie_mlx.runtime.worker.frames.size_budgets import BUDGETS, USUAL, Budget

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


SHORT_BYTES = 2 << 10
"""A decode step is shorter: its values are not counted."""
SWIFT_BYTES = 16 << 10
SWIFT_COUNTS = Counts(values=1_024, containers=256)
"""What is decoded at once; longer frames and more values are decoded on another thread."""

_BYTE_WEIGHT, _VALUE_WEIGHT, _CONTAINER_WEIGHT = 64, 40, 200
"""Bytes of memory that are reckoned for a byte of a frame that was not counted, and for what was."""
_FIRST_VALUES = 64
"""Where a block of bytes begins: calls have fewer fields."""

_HEAD = re.compile(
    rb"[\x91-\x9F](?:\xA7request(?P<number>[\x00-\x7F]|\xCC.|\xCD..|\xCE.{4}|\xCF.{8})"
    rb"(?:(?:[\x80-\x8F]|\xDE..)\xA4call[\xA0-\xBF](?P<call>[a-z_]*))?|[\xA0-\xBF](?P<kind>[a-z_]*))",
    re.DOTALL,
)


class _Head(NamedTuple):
    """What a frame is about, and the `number` of a call, None where it is none."""

    kind: str
    number: int | None = None

    @property
    def budget(self) -> Budget:
        return BUDGETS.get(self.kind, USUAL)

    def refused(self, error: InvalidArgumentError) -> InvalidRequest:
        """Raises ProtocolError where there is no call to answer."""
        if self.number is None:
            raise ProtocolError(error.message) from None
        return InvalidRequest(self.number, error)


class LongFrame:
    """A frame of a worker that is all there: decoding it takes a while."""

    def __init__(self, payload: Payload, head: _Head) -> None:
        self._payload, self._head = payload, head
        self.held_bytes = 0
        """The memory it takes, once it is decoded."""

    @property
    def is_swift(self) -> bool:
        """Whether decoding it takes no longer than other work of the engine's loop."""
        length = len(self._payload)
        return length <= SWIFT_BYTES or (
            length <= USUAL.size_bytes and count(self._payload, SWIFT_COUNTS).within(SWIFT_COUNTS)
        )

    def decode(self) -> FromWorker:
        """On any thread. Raises ProtocolError for what is no frame."""
        budget = self._head.budget
        found = count(self._payload, budget.most)
        self.held_bytes = _held_bytes(len(self._payload), found)
        try:
            budget.check_counts(self._head.kind, found)
        except InvalidArgumentError as error:
            return self._head.refused(error)
        return _decoded(self._payload)


class WorkerFrames(FrameCutter):
    """What a worker sends."""

    def __init__(self) -> None:
        super().__init__()
        self._head: _Head | None = None
        """Of the next frame, once its size is known to be within bounds."""
        self.held_bytes = 0
        """The memory that the frame takes that was taken last."""

    @property
    def awaited_bytes(self) -> int:
        """The length of a long frame that is on its way, 0 for none."""
        return (self.length() or 0) if self._head is not None else 0

    def next_frame(self) -> FromWorker | LongFrame | None:
        """The next frame, None until the rest of it is there. Raises ProtocolError for what is no frame."""
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
    """What the engine sends."""

    def next_frame(self) -> FromEngine | None:
        """The next frame, None until the rest of it is there. Raises ProtocolError for what is no frame."""
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
