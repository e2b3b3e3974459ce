"""The queue of one topic: first in, first out, each message to one puller, pullers and pushers served in order."""

import asyncio
from collections import deque
from dataclasses import dataclass, field

from pie_mlx.runtime.messaging.limits import MessageUsage, MessagingLimits, size_of

Ticket = tuple[str, int]
"""A process, and a number it chose."""


@dataclass(slots=True)
class Queue:
    """A waiting ticket is *called* when a message is reserved for it, and then pops the oldest message.

    So a cancelled wait loses no message. While tickets wait, every message is reserved for one. Messages are numbered:
    `pushed` is the number of the last one that was appended, `popped` that of the last one that was removed.
    """

    limits: MessagingLimits
    usage: MessageUsage
    pushed: int = 0
    popped: int = 0
    size_bytes: int = 0
    _messages: deque[str] = field(default_factory=deque[str])
    _called: dict[Ticket, None] = field(default_factory=dict[Ticket, None])
    _waiting: "dict[Ticket, asyncio.Future[None]]" = field(default_factory=dict[Ticket, "asyncio.Future[None]"])
    _pushing: "dict[asyncio.Future[int], str]" = field(default_factory=dict["asyncio.Future[int]", str])
    _pushing_bytes: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether it holds no message and has no waiting ticket or push."""
        return not (self._messages or self._called or self._waiting or self._pushing)

    @property
    def held(self) -> tuple[int, int]:
        """Bytes and number of the messages in the queue, and of those whose pushes wait for room."""
        return self.size_bytes + self._pushing_bytes, len(self._messages) + len(self._pushing)

    def __len__(self) -> int:
        return len(self._messages)

    async def push(self, text: str) -> int:
        """Append a message once there is room; returns its number. If cancelled while waiting, it appends nothing."""
        if not self._pushing and self._has_room(text):
            return self._append(text)
        turn: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._pushing[turn] = text
        self._pushing_bytes += size_of(text)
        self.usage.reserve(size_of(text))
        try:
            return await turn
        except asyncio.CancelledError:
            self._drop_push(turn)
            self._admit()
            raise

    def pop(self, ticket: Ticket) -> str | None:
        """Remove and return the oldest message, if `ticket` was called or a message is unreserved."""
        if ticket in self._called:
            del self._called[ticket]
        elif len(self._messages) <= len(self._called):
            return None
        text = self._messages.popleft()
        self.popped += 1
        self.size_bytes -= size_of(text)
        self.usage.release(size_of(text))
        self._admit()
        return text

    async def wait(self, ticket: Ticket) -> None:
        """Wait in line until a message is reserved for `ticket`. If cancelled, it leaves the line."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[ticket] = turn
        self._call()
        try:
            await turn
        except asyncio.CancelledError:
            self.leave(ticket)
            raise

    def leave(self, ticket: Ticket) -> None:
        """Give up a ticket, called or not."""
        turn = self._waiting.pop(ticket, None)
        if turn is not None:
            turn.cancel()
        self._called.pop(ticket, None)
        self._call()

    def check_integrity(self) -> None:
        """Raises RuntimeError if the counts are inconsistent."""
        spare = len(self._messages) - len(self._called)
        if spare < 0 or (spare and self._waiting):
            raise RuntimeError(f"queue: {spare} spare messages while {len(self._waiting)} wait")
        if self.size_bytes != sum(map(size_of, self._messages)):
            raise RuntimeError(f"queue: counted {self.size_bytes} bytes")
        if any(not turn.done() and self._has_room(text) for turn, text in list(self._pushing.items())[:1]):
            raise RuntimeError("queue: a push waits while there is room")
        if self._pushing_bytes != sum(map(size_of, self._pushing.values())):
            raise RuntimeError(f"queue: counted {self._pushing_bytes} bytes of pushes that wait")

    def _has_room(self, text: str) -> bool:
        if not self._messages:
            return True
        fits = self.size_bytes + size_of(text) <= self.limits.queue_bytes
        return fits and len(self._messages) < self.limits.queue_messages

    def _append(self, text: str) -> int:
        self._messages.append(text)
        self.pushed += 1
        self.size_bytes += size_of(text)
        self.usage.reserve(size_of(text))
        self._call()
        return self.pushed

    def _admit(self) -> None:
        """Append the messages of waiting pushes while there is room."""
        while self._pushing:
            turn, text = next(iter(self._pushing.items()))
            if not turn.cancelled() and not self._has_room(text):
                return
            self._drop_push(turn)
            if not turn.cancelled():
                turn.set_result(self._append(text))

    def _drop_push(self, turn: "asyncio.Future[int]") -> None:
        text = self._pushing.pop(turn, None)
        if text is not None:
            self._pushing_bytes -= size_of(text)
            self.usage.release(size_of(text))

    def _call(self) -> None:
        """Reserve messages for the first tickets in line."""
        while self._waiting and len(self._messages) > len(self._called):
            ticket = next(iter(self._waiting))
            turn = self._waiting.pop(ticket)
            if not turn.cancelled():
                self._called[ticket] = None
                turn.set_result(None)
