"""A session whose client is in the same process."""

import asyncio
import threading
from collections import deque
from typing import Generic, Literal, TypeVar

from pie_mlx.errors import PieError, SessionClosedError
from pie_mlx.runtime.execution.process_events import ProcessEventQueue

Item = TypeVar("Item")


class Mailbox(Generic[Item]):
    """First in, first out; every item goes to one reader. Safe from any thread.

    Waiting and taking are two steps, and an item wakes everybody who waits: a reader that is cancelled, at whatever
    moment, takes no item with it and no other reader's turn.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._items: deque[Item] = deque()
        self._readers: list[asyncio.Future[None]] = []
        self._closed: PieError | None = None

    def put(self, item: Item) -> None:
        with self._lock:
            self._items.append(item)
            self._wake()

    def waiting(self) -> list[Item]:
        """What nobody has taken yet, in order."""
        with self._lock:
            return list(self._items)

    def has_readers(self) -> bool:
        """Whether anybody waits for an item."""
        with self._lock:
            return bool(self._readers)

    def close(self, reason: PieError) -> None:
        """Nothing will follow: readers get what is there, then `reason`."""
        with self._lock:
            self._closed = reason
            self._wake()

    def pop(self) -> Item | None:
        """The next item, None when there is none now."""
        with self._lock:
            return self._items.popleft() if self._items else None

    async def wait(self) -> None:
        """Wait until an item came. Raises the reason of closing once nothing is left."""
        with self._lock:
            if self._items:
                return
            if self._closed is not None:
                raise self._closed.with_traceback(None)
            reader: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._readers.append(reader)
        try:
            await reader
        finally:
            with self._lock:
                if reader in self._readers:
                    self._readers.remove(reader)
        await self.wait()

    def _wake(self) -> None:
        readers, self._readers = self._readers, []
        for reader in readers:
            reader.get_loop().call_soon_threadsafe(_finish, reader)


def _finish(reader: "asyncio.Future[None]") -> None:
    if not reader.done():
        reader.set_result(None)


class LocalSession:
    """What the client sends waits in mailboxes; what the program sends goes to the outlet."""

    def __init__(self, event_queue: ProcessEventQueue) -> None:
        self._event_queue = event_queue
        self.messages: Mailbox[str] = Mailbox()
        self.files: Mailbox[bytes] = Mailbox()

    def message(self, text: str, format: Literal["text", "json"]) -> None:
        self._event_queue.message(text, format)

    def file(self, data: bytes, name: str) -> None:
        self._event_queue.file(data, name)

    async def wait(self, what: Literal["message", "file"]) -> None:
        await (self.messages if what == "message" else self.files).wait()

    def take_message(self) -> str | None:
        return self.messages.pop()

    def take_file(self) -> bytes | None:
        return self.files.pop()

    def close(self) -> None:
        """The client will send nothing more."""
        reason = "session: the client sends nothing more"
        hint = "use send() of launch(), or type at a 'pie run': nothing that is piped into it is sent"
        self.messages.close(SessionClosedError(reason, hint=hint))
        self.files.close(SessionClosedError(reason, hint=hint))
