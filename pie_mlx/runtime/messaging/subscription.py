"""One subscription of a process: its unread messages."""

import asyncio
from collections import deque
from dataclasses import dataclass, field

from pie_mlx.errors import MessageOverflowError
from pie_mlx.runtime.messaging.limits import MessageUsage, MessagingLimits, size_of


@dataclass(slots=True, eq=False)
class Subscription:
    """Keeps messages in order until they are read; messages that arrive while it is full are dropped and counted."""

    topic: str
    limits: MessagingLimits
    usage: MessageUsage
    dropped: int = 0
    is_open: bool = True
    popped: int = 0
    """The number of the message that was read last."""
    _size_bytes: int = 0
    _unreported: int = 0
    _messages: deque[tuple[str, int]] = field(default_factory=deque[tuple[str, int]])
    _readable: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, text: str, size_bytes: int, number: int = 0) -> None:
        """Add a broadcast message, or drop it."""
        is_full = len(self._messages) >= self.limits.subscription_messages or not self.usage.has_room(size_bytes)
        if is_full or self._size_bytes + size_bytes > self.limits.subscription_bytes:
            self.dropped += 1
            self._unreported += 1
        else:
            self._messages.append((text, number))
            self._size_bytes += size_bytes
            self.usage.reserve(size_bytes)
        self._readable.set()

    def pop(self) -> str | None:
        """Remove and return the oldest message; None if there is none.

        Raises MessageOverflowError once for messages dropped since the last call; it removes no message.
        """
        missed, self._unreported = self._unreported, 0
        text: str | None = None
        if self._messages and not missed:
            text, self.popped = self._messages.popleft()
            self._size_bytes -= size_of(text)
            self.usage.release(size_of(text))
        if not self._messages and self.is_open:
            self._readable.clear()
        if missed:
            raise MessageOverflowError(
                f"subscription of '{self.topic}': {missed} messages were dropped because it was full",
                hint="read more often; the kept messages can still be read",
                dropped=missed,
            )
        return text

    @property
    def held(self) -> tuple[int, int]:
        """Bytes and number of its messages."""
        return self._size_bytes, len(self._messages)

    async def wait(self) -> bool:
        """Wait until there is something to read. False once it is closed."""
        await self._readable.wait()
        return self.is_open

    def close(self) -> None:
        """Drop unread messages and release waiting readers."""
        self.is_open = False
        self.usage.release(self._size_bytes, len(self._messages))
        self._messages.clear()
        self._size_bytes = self._unreported = 0
        self._readable.set()
