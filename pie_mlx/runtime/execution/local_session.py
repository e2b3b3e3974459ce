"""A session whose client is in the same process."""

import asyncio
import threading
from collections import deque
from typing import Generic, Literal, TypeVar

from pie_mlx.errors import PieError, SessionClosedError
from pie_mlx.runtime.execution.process_events import ProcessEventQueue

Item = TypeVar("Item")


class Mailbox(Generic[Item]):
    """First in, first out; each item goes to one reader. Safe from any thread.

    Waiting and popping are two steps, and an item wakes every reader: a reader cancelled at any moment loses no item
    and no other reader's turn.
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
        """The items not popped yet, in order."""
        with self._lock:
            return list(self._items)

    def has_readers(self) -> bool:
        """Whether a reader waits for an item."""
        with self._lock:
            return bool(self._readers)

    def close(self, reason: PieError) -> None:
        """No item follows: readers get the remaining items, then `reason`."""
        with self._lock:
            self._closed = reason
            self._wake()

    def pop(self) -> Item | None:
        """Remove and return the next item; None if there is none."""
        with self._lock:
            return self._items.popleft() if self._items else None

    async def wait(self) -> None:
        """Wait until there is an item. Raises the reason of `close` once none is left."""
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
    """Keeps what the client sends in mailboxes; passes what the program sends to the event queue."""

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
        """The client sends nothing more."""
        reason = "session: the client sends nothing more"
        hint = "use send() of launch(), or type at a 'pie run': nothing that is piped into it is sent"
        self.messages.close(SessionClosedError(reason, hint=hint))
        self.files.close(SessionClosedError(reason, hint=hint))
