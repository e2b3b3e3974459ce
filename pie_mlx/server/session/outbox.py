"""Queues what is to be written to one connection, and encodes process events as frames."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from blake3 import blake3

from pie_mlx.events import (
    ProcessEvent,
    ProcessFailed,
    ProcessFile,
    ProcessLaunched,
    ProcessMessage,
    ProcessOutput,
    ProcessReturned,
)
from pie_mlx.server.frames import VALUE_LIMIT_BYTES, file_chunk, process_event

CHUNK_BYTES = 256 << 10


def event_frames(event: ProcessEvent, data: bytes) -> Iterator[bytes]:
    """The frames of an event, in order, each below the clients' limit. `data` is the contents of a file."""
    match event:
        case ProcessOutput(process=process, stream=stream, text=text):
            for piece in text_pieces(text):
                yield process_event(process, stream, piece)
        case ProcessMessage(process=process, text=text, format=format):
            yield process_event(process, "message", text, format=format)
        case ProcessFile(process=process, name=name):
            yield from _file_frames(process, data, name)
        case ProcessReturned(process=process, value=value, format=format):
            yield process_event(process, "return", value, format=format)
        case ProcessFailed(process=process, message=message, error_type=error_type, hint=hint):
            shown = message[: VALUE_LIMIT_BYTES // 4]
            yield process_event(process, "error", shown, error_type=error_type[:1000], hint=hint[:1000])
        case ProcessLaunched():
            return


def frame_count(event: ProcessEvent, data: bytes) -> int:
    """The approximate number of frames of an event."""
    return 1 + len(data) // CHUNK_BYTES if isinstance(event, ProcessFile) else 1


def text_pieces(text: str) -> Iterator[str]:
    """`text` cut between characters into pieces of at most CHUNK_BYTES of UTF-8."""
    encoded = text.encode(errors="replace")
    start = 0
    while len(encoded) - start > CHUNK_BYTES:
        end = start + CHUNK_BYTES
        while encoded[end] & 0xC0 == 0x80:  # not within a character
            end -= 1
        yield encoded[start:end].decode()
        start = end
    yield encoded[start:].decode()


def _file_frames(process: str, data: bytes, name: str) -> Iterator[bytes]:
    digest = blake3(data).hexdigest()
    total = max(1, -(-len(data) // CHUNK_BYTES))
    for index in range(total):
        start = index * CHUNK_BYTES
        yield file_chunk(process, digest, index, total, data[start : start + CHUNK_BYTES], name)


FRAMES_LIMIT = 4096
BYTES_LIMIT = 64 << 20

Item = tuple[ProcessEvent, bytes]


def _nothing() -> bytes | None:
    return None


def _ignore(event: ProcessEvent) -> None: ...


@dataclass(slots=True)
class Outbox:
    """First in, first out, so files do not interleave and no event overtakes a file of its process.

    If a process is held, its files and what follows them, or all its events, wait until it is released. `spare`
    provides a frame when the queue is empty; `sent` is called with each completely sent event.
    """

    spare: Callable[[], bytes | None] = _nothing
    sent: Callable[[ProcessEvent], None] = _ignore
    _items: deque[bytes | Item] = field(default_factory=deque[bytes | Item])
    _held: dict[str, list[Item]] = field(default_factory=dict[str, list[Item]])
    _silenced: set[str] = field(default_factory=set[str])
    _begun: Item | None = None
    _rest: Iterator[bytes] = field(default_factory=lambda: iter(()))
    _ahead: bytes | None = None
    _frames: int = 0
    _bytes: int = 0

    @property
    def is_full(self) -> bool:
        return self._frames >= FRAMES_LIMIT or self._bytes >= BYTES_LIMIT

    def put(self, frame: bytes) -> None:
        self._items.append(frame)
        self._count(1, len(frame))

    def put_event(self, event: ProcessEvent, data: bytes) -> None:
        held = self._held.get(event.process)
        if held is not None and (held or isinstance(event, ProcessFile) or event.process in self._silenced):
            held.append((event, data))
        else:
            self._items.append((event, data))
        self._count(frame_count(event, data), _size_bytes(event, data))

    def hold(self, process: str, *, everything: bool = False) -> None:
        """Hold files of a process, or everything, until `release`."""
        self._held.setdefault(process, [])
        if everything:
            self._silenced.add(process)

    def release(self, process: str) -> None:
        self._silenced.discard(process)
        self._items.extend(self._held.pop(process, []))

    def next_frame(self) -> bytes | None:
        """The next frame to write, None if there is none."""
        while self._ahead is None:
            if not self._items:
                return self.spare()
            item = self._items.popleft()
            if isinstance(item, bytes):
                self._count(-1, -len(item))
                return item
            self._count(-frame_count(*item), -_size_bytes(*item))
            self._begun, self._rest = item, event_frames(*item)
            self._look_ahead()
        frame = self._ahead
        self._look_ahead()
        return frame

    def _look_ahead(self) -> None:
        self._ahead = next(self._rest, None)
        if self._ahead is None and self._begun is not None:
            event, self._begun = self._begun[0], None
            self.sent(event)

    def unsent(self) -> list[Item]:
        """Events not completely written, in order."""
        begun = [] if self._begun is None else [self._begun]
        queued = [item for item in self._items if not isinstance(item, bytes)]
        return [*begun, *queued, *(item for held in self._held.values() for item in held)]

    def _count(self, frames: int, size_bytes: int) -> None:
        self._frames += frames
        self._bytes += size_bytes


def _size_bytes(event: ProcessEvent, data: bytes) -> int:
    """Approximate size: at least the characters of its text."""
    return len(data) + len(str(getattr(event, "text", "") or getattr(event, "value", "")))
