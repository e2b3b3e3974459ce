"""Events on disk: a file header, then one frame for each event, its length (4 bytes, big-endian) and its msgpack.

A log is written with `Engine(on_event=log.write)` and read back, whole, with `read_events`.
"""

import fcntl
import os
import struct
from collections.abc import Callable
from io import BufferedWriter
from pathlib import Path
from types import TracebackType
from typing import Self, get_args

import msgspec

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.events import EVENTS_VERSION, AnyEvent, ClockRead, Event

MAGIC = b"pie events "
HEADER = MAGIC + f"{EVENTS_VERSION:04d}\n".encode()
_LENGTH = struct.Struct(">I")
CLOCK_STEP_SECONDS = 0.001
_KINDS = frozenset(kind.__struct_config__.tag for kind in get_args(AnyEvent))


class EventLog(msgspec.Struct, frozen=True):
    """The content of a file. `unknown` counts events of kinds that this version does not know; they are left out.

    `torn_bytes` is the length of an unfinished last frame, 0 for a log that was closed.
    """

    events: tuple[Event, ...]
    unknown: int = 0
    torn_bytes: int = 0


class EventWriter:
    """Writes a new log. A process that dies loses what was written since the last flush.

    An existing log stays until the first event arrives. The file is locked against other writers. Raises
    InvalidArgumentError for a file that is no log and for one that another writer has open, OSError.

    With a `clock` the log also has times: a ClockRead precedes each event that came CLOCK_STEP_SECONDS or more
    after the latest one.
    """

    def __init__(self, path: str | Path, clock: Callable[[], float] | None = None) -> None:
        self._clock = clock
        self._read_seconds = float("-inf")
        self._file = _claimed(path)
        self._replaces = _size_bytes(self._file) > 0
        if not self._replaces:
            self._file.write(HEADER)
        self._encoder = msgspec.msgpack.Encoder()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def write(self, event: Event) -> None:
        """Appends one event. Raises OSError."""
        if self._replaces:
            self._replaces = False
            self._file.truncate(0)
            self._file.write(HEADER)
        if self._clock is not None and (now := self._clock()) >= self._read_seconds + CLOCK_STEP_SECONDS:
            self._read_seconds = now
            self._append(ClockRead(now))
        self._append(event)

    def _append(self, event: Event) -> None:
        frame = self._encoder.encode(event)
        self._file.write(_LENGTH.pack(len(frame)) + frame)

    def flush(self) -> None:
        """Hands everything to the operating system."""
        self._file.flush()

    def close(self) -> None:
        """Idempotent. Raises OSError."""
        self._file.close()

    def give_up(self) -> None:
        """Close without flushing: the disk is full."""
        self._file.raw.close()


def _claimed(path: str | Path) -> BufferedWriter:
    """The file, opened with its content and locked against other writers. Raises InvalidArgumentError, OSError."""
    file = Path(path).open("ab")  # noqa: SIM115 - closed by its writer
    if obstacle := _obstacle(path, file):
        file.close()
        raise InvalidArgumentError(f"event log {path}: {obstacle}", hint="name another file")
    return file


def _obstacle(path: str | Path, file: BufferedWriter) -> str:
    """Why no log can be written there, or "", after which the file is locked until it is closed."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return "another engine writes it"
    if _size_bytes(file) == 0:
        return ""
    with Path(path).open("rb") as earlier:
        return "" if earlier.read(len(MAGIC)) == MAGIC else "it is there already and is no event log"


def _size_bytes(file: BufferedWriter) -> int:
    """0 also for anything but a regular file."""
    return os.fstat(file.fileno()).st_size


class _Kind(msgspec.Struct):
    kind: str


def read_events(path: str | Path) -> EventLog:
    """Everything in a file. A last frame that was cut short is reported and no error.

    Raises InvalidArgumentError for a file that is no log, a log of a newer version, and a damaged frame; OSError if
    it cannot be read.
    """
    data = memoryview(Path(path).read_bytes())
    _check_header(path, bytes(data[: len(HEADER)]))
    decoder = msgspec.msgpack.Decoder(AnyEvent)
    events: list[Event] = []
    unknown, start = 0, len(HEADER)
    while (end := _frame_end(data, start)) is not None:
        event = _decode(path, decoder, data[start + _LENGTH.size : end], start)
        if event is None:
            unknown += 1
        else:
            events.append(event)
        start = end
    return EventLog(tuple(events), unknown, len(data) - start)


def _check_header(path: str | Path, header: bytes) -> None:
    version = header[len(MAGIC) :].strip()
    if not header.startswith(MAGIC) or len(header) < len(HEADER) or not version.isdigit():
        raise InvalidArgumentError(f"event log {path}: not an event log", hint="name a file that EventWriter wrote")
    if int(version) > EVENTS_VERSION:
        raise InvalidArgumentError(
            f"event log {path}: version {int(version)}, this is {EVENTS_VERSION}", hint="read it with a newer pie-mlx"
        )


def _frame_end(data: memoryview, start: int) -> int | None:
    """The end of the frame at `start`; None if the file ends before."""
    if len(data) - start < _LENGTH.size:
        return None
    end = start + _LENGTH.size + int(_LENGTH.unpack_from(data, start)[0])
    return end if end <= len(data) else None


def _decode(
    path: str | Path, decoder: "msgspec.msgpack.Decoder[AnyEvent]", frame: memoryview, start: int
) -> Event | None:
    """The event of a frame, None for a kind this version does not know."""
    try:
        return decoder.decode(frame)
    except (ValueError, RecursionError) as error:
        if _is_unknown(frame):
            return None
        raise InvalidArgumentError(
            f"event log {path}: the frame at byte {start} is damaged: {error}", hint="use an intact copy"
        ) from error


def _is_unknown(frame: memoryview) -> bool:
    try:
        return msgspec.msgpack.decode(frame, type=_Kind).kind not in _KINDS
    except (ValueError, RecursionError):
        return False
