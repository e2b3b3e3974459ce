"""Events kept for a detached client."""

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from pie_mlx.events import (
    ProcessEvent,
    ProcessFailed,
    ProcessFile,
    ProcessLaunched,
    ProcessMessage,
    ProcessOutput,
    ProcessReturned,
)

TERMINAL = (ProcessReturned, ProcessFailed)


@dataclass(frozen=True, slots=True)
class KeptLimits:
    """Limits on the kept events of one process."""

    events: int = 4096
    text_bytes: int = 16 << 20
    file_bytes: int = 64 << 20


@dataclass(slots=True)
class KeptTotal:
    """The kept events of all processes. Beyond `limit_bytes`, ended processes lose theirs, the first ended first.

    A running process loses nothing to other users: beyond `user_bytes` of its own user, it loses its oldest events when
    it adds one.
    """

    limit_bytes: int = 256 << 20
    user_bytes: int = 512 << 20
    kept_bytes: int = 0
    _users: "Counter[str]" = field(default_factory=Counter[str])
    _ended: "dict[KeptEvents, None]" = field(default_factory=dict["KeptEvents", None])

    def count(self, username: str, size_bytes: int) -> None:
        """Add to the count; negative sizes subtract."""
        self.kept_bytes += size_bytes
        self._users[username] += size_bytes
        if not self._users[username]:
            del self._users[username]

    def is_over(self, username: str) -> bool:
        """Whether a user is above `user_bytes`."""
        return self._users[username] > self.user_bytes

    def end(self, kept: "KeptEvents") -> None:
        """A process has ended: its events may be dropped."""
        self._ended[kept] = None
        self.make_room()

    def forget(self, kept: "KeptEvents") -> None:
        self._ended.pop(kept, None)

    def make_room(self) -> None:
        while self.kept_bytes > self.limit_bytes and self._ended:
            first = next(iter(self._ended))
            if not first.drop_oldest():
                del self._ended[first]

    def check_integrity(self, present: "Iterable[KeptEvents]") -> None:
        """Raises RuntimeError if the count differs from the events of the `present` processes."""
        found = sum(kept.size_bytes for kept in present)
        if found != self.kept_bytes or found != self._users.total():
            raise RuntimeError(f"kept events: counted {self.kept_bytes} of all processes, found {found}")


@dataclass(slots=True, eq=False)
class KeptEvents:
    """First in, first out. Beyond a limit the oldest are dropped, except the terminal event."""

    limits: KeptLimits = field(default_factory=KeptLimits)
    total: KeptTotal = field(default_factory=KeptTotal)
    username: str = ""
    dropped: int = 0
    _items: deque[tuple[ProcessEvent, bytes]] = field(default_factory=deque[tuple[ProcessEvent, bytes]])
    _text_bytes: int = 0
    _file_bytes: int = 0
    _forgotten: bool = False

    def __len__(self) -> int:
        return len(self._items)

    @property
    def size_bytes(self) -> int:
        return self._text_bytes + self._file_bytes

    def keep(self, event: ProcessEvent, data: bytes) -> None:
        if self._forgotten:
            return
        self._items.append((event, data))
        self._count(event, data, 1)
        while self._is_over() and self.drop_oldest():
            pass
        self.total.make_room()

    def drop_oldest(self) -> bool:
        """Drop the oldest event; False if none may be dropped."""
        if not self._items or isinstance(self._items[0][0], TERMINAL):
            return False
        self._count(*self._items.popleft(), -1)
        self.dropped += 1
        return True

    def end(self) -> None:
        """The process has ended. Called again if events are kept after that."""
        if not self._forgotten:
            self.total.end(self)

    def forget(self) -> None:
        """Drop everything, and keep nothing more."""
        self._forgotten = True
        self.total.forget(self)
        self._clear()

    def drain(self, process: str) -> list[tuple[ProcessEvent, bytes]]:
        """Remove and return all events, after a notice if some were dropped."""
        taken = list(self._items)
        if self.dropped:
            notice = f"[pie] {self.dropped} earlier events were dropped\n"
            taken.insert(0, (ProcessOutput(process, "stderr", notice), b""))
        self._clear()
        return taken

    def check_integrity(self) -> None:
        """Raises RuntimeError if the counts differ from the events."""
        text, files = sum(_text_bytes(event) for event, _ in self._items), sum(len(data) for _, data in self._items)
        if (text, files) != (self._text_bytes, self._file_bytes):
            raise RuntimeError(f"kept events: counted {self._text_bytes}, {self._file_bytes}, found {text}, {files}")

    def _clear(self) -> None:
        self._items.clear()
        self.total.count(self.username, -self.size_bytes)
        self._text_bytes = self._file_bytes = self.dropped = 0

    def _is_over(self) -> bool:
        return (
            len(self._items) > self.limits.events
            or self._text_bytes > self.limits.text_bytes
            or self._file_bytes > self.limits.file_bytes
            or self.total.is_over(self.username)
        )

    def _count(self, event: ProcessEvent, data: bytes, sign: int) -> None:
        text_bytes, file_bytes = sign * _text_bytes(event), sign * len(data)
        self._text_bytes += text_bytes
        self._file_bytes += file_bytes
        self.total.count(self.username, text_bytes + file_bytes)


def _text_bytes(event: ProcessEvent) -> int:
    match event:
        case ProcessOutput(text=text) | ProcessMessage(text=text):
            return len(text.encode())
        case ProcessReturned(value=value):
            return len(value.encode())
        case ProcessFailed(message=message):
            return len(message.encode())
        case ProcessLaunched() | ProcessFile():
            return 0
