"""Messages between the inferlets of a user: queues, where each message goes to one, and broadcasts to all."""

import itertools
from contextlib import suppress
from typing import Any, Self

from inferlet._calls.checks import checked_text
from inferlet._calls.host import HostLink, current_host
from inferlet._calls.payload import message_text
from pie_mlx.calls import (
    AwaitBroadcast,
    AwaitMessage,
    Broadcast,
    CountDropped,
    LeaveTopic,
    Push,
    ReadSubscription,
    Subscribe,
    TakeMessage,
    Unsubscribe,
)

__all__ = ["Subscription", "broadcast", "pull", "push", "subscribe"]

_tickets = itertools.count(1)


def push(topic: str, message: Any) -> None:
    """Append a message to the topic's queue: a str as it is, anything else as JSON. Blocks while the queue is full.

    Raises InvalidArgumentError for a topic or a message that is too long, MessageOverflowError when too many messages
    of this user wait to be pulled.
    """
    current_host().call(Push(checked_text(topic, "topic"), message_text("messaging.push", message)))


async def pull(topic: str) -> str:
    """Wait for the next message of the topic's queue. Pullers are served in order; cancelling loses no message.

    Raises ChildFailedError, once for each, if it would wait and a child of this program has failed: one whose handle is
    kept, and whose result is not awaited elsewhere."""
    host = current_host()
    text = host.call(TakeMessage(checked_text(topic, "topic")))
    while text is None:
        ticket = next(_tickets)
        await _wait_for_turn(host, topic, ticket)
        text = host.call(TakeMessage(topic, ticket))
    return text


def broadcast(topic: str, message: Any) -> None:
    """Send a message to all present subscribers: a str as it is, anything else as JSON.

    Raises InvalidArgumentError for a topic or a message that is too long.
    """
    current_host().call(Broadcast(checked_text(topic, "topic"), message_text("messaging.broadcast", message)))


def subscribe(topic: str) -> "Subscription":
    """Open a subscription. Raises InvalidArgumentError for a topic that is too long or too many subscriptions."""
    host = current_host()
    return Subscription(host, topic, host.call(Subscribe(checked_text(topic, "topic"))))


async def _wait_for_turn(host: HostLink, topic: str, ticket: int) -> None:
    """Queue until a message is reserved for `ticket`; a cancelled wait returns the ticket."""
    try:
        await host.submit(AwaitMessage(topic, ticket))
    except BaseException:
        with suppress(Exception):  # it fails only when the program ends, and its tickets with it
            host.call(LeaveTopic(topic, ticket))
        raise


class Subscription:
    """The broadcasts of a topic since it was opened, in order, until `unsubscribe`, `with`'s end or the program's.

    It keeps messages until they are read. When too many wait, the newest are dropped; the next read then raises
    MessageOverflowError once, and later reads return the messages that were kept.
    """

    def __init__(self, host: HostLink, topic: str, number: int) -> None:
        self.topic = topic
        self._host = host
        self._number = number
        self._closed = False
        self._dropped = 0

    @property
    def dropped(self) -> int:
        """The number of messages dropped so far."""
        if not self._closed:
            self._dropped = self._host.call(CountDropped(self._number))
        return self._dropped

    def get(self) -> str | None:
        """The next message, or None when there is none now. Raises MessageOverflowError."""
        return None if self._closed else self._host.call(ReadSubscription(self._number))

    async def next(self) -> str | None:
        """Wait for the next message; None after `unsubscribe`. Cancelling loses none. Raises MessageOverflowError, and
        ChildFailedError as `pull` does."""
        text = self.get()
        while text is None and not self._closed and await self._host.submit(AwaitBroadcast(self._number)):
            text = self.get()
        return text

    def unsubscribe(self) -> None:
        """Close it; unread messages are lost. Closing twice is no error."""
        if not self._closed:
            self._dropped = self.dropped
            self._closed = True
            self._host.call(Unsubscribe(self._number))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        text = await self.next()
        if text is None:
            raise StopAsyncIteration
        return text

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.unsubscribe()

    def __del__(self) -> None:
        # Nothing may escape a finalizer: the engine may be gone, the object half built, the interpreter ending.
        try:
            if not self._closed:
                self._closed = True
                self._host.drop(Unsubscribe(self._number))
        except Exception:
            return
