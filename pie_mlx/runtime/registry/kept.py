"""Events kept for a client that is away."""

from collections import deque
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
    """How much is kept of one process."""

    events: int = 4096
    text_bytes: int = 16 << 20
    file_bytes: int = 64 << 20


@dataclass(slots=True)
class KeptEvents:
    """First in, first out. The oldest go when a limit is passed; the terminal event never does."""

    limits: KeptLimits = field(default_factory=KeptLimits)
    dropped: int = 0
    _items: deque[tuple[ProcessEvent, bytes]] = field(default_factory=deque[tuple[ProcessEvent, bytes]])
    _text_bytes: int = 0
    _file_bytes: int = 0

    def __len__(self) -> int:
        return len(self._items)

    def add(self, event: ProcessEvent, data: bytes) -> None:
        self._items.append((event, data))
        self._count(event, data, 1)
        while self._is_over() and not isinstance(self._items[0][0], TERMINAL):
            self._count(*self._items.popleft(), -1)
            self.dropped += 1

    def take(self, process: str) -> list[tuple[ProcessEvent, bytes]]:
        """Everything, after a notice when something was dropped; nothing is kept then."""
        taken = list(self._items)
        if self.dropped:
            notice = f"[pie] {self.dropped} earlier events were dropped\n"
            taken.insert(0, (ProcessOutput(process, "stderr", notice), b""))
        self._items.clear()
        self._text_bytes = self._file_bytes = self.dropped = 0
        return taken

    def check_integrity(self) -> None:
        """Raises RuntimeError when the counts are not those of what is kept."""
        text, files = sum(_text_bytes(event) for event, _ in self._items), sum(len(data) for _, data in self._items)
        if (text, files) != (self._text_bytes, self._file_bytes):
            raise RuntimeError(f"kept events: counted {self._text_bytes}, {self._file_bytes}, found {text}, {files}")

    def _is_over(self) -> bool:
        return (
            len(self._items) > self.limits.events
            or self._text_bytes > self.limits.text_bytes
            or self._file_bytes > self.limits.file_bytes
        )

    def _count(self, event: ProcessEvent, data: bytes, sign: int) -> None:
        self._text_bytes += sign * _text_bytes(event)
        self._file_bytes += sign * len(data)


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
