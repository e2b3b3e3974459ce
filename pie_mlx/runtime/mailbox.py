"""A queue between threads whose readers are coroutines of any loop."""

import asyncio
import threading
from collections import deque
from typing import Generic, TypeVar

from pie_mlx.errors import PieError

Item = TypeVar("Item")


class Mailbox(Generic[Item]):
    """First in, first out; every item goes to one reader, readers are served in order. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._items: deque[Item] = deque()
        self._readers: deque[asyncio.Future[None]] = deque()
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
            while self._readers:
                self._wake()

    async def get(self) -> Item:
        """The next item. Raises the reason of closing once nothing is left. Cancelling loses no item."""
        while True:
            with self._lock:
                if self._items:
                    return self._items.popleft()
                if self._closed is not None:
                    raise self._closed
                reader = asyncio.get_running_loop().create_future()
                self._readers.append(reader)
            await self._wait(reader)

    async def _wait(self, reader: "asyncio.Future[None]") -> None:
        try:
            await reader
        except asyncio.CancelledError:
            with self._lock:
                if reader in self._readers:
                    self._readers.remove(reader)
                elif self._items:
                    self._wake()
            raise

    def _wake(self) -> None:
        if self._readers:
            reader = self._readers.popleft()
            reader.get_loop().call_soon_threadsafe(_finish, reader)


def _finish(reader: "asyncio.Future[None]") -> None:
    if not reader.done():
        reader.set_result(None)
