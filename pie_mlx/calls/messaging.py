"""Messages: topics, which are broadcasts to all subscriptions and queues that deliver each message once; the client.

Waiting and taking are separate calls, because a cancelled wait must not lose a message.
"""

from typing import Literal

from pie_mlx.calls.base import Call


class Broadcast(Call[None], frozen=True):
    """Give a message to every subscription of the topic that is open now (I4)."""

    topic: str
    text: str


class Subscribe(Call[int], frozen=True):
    """Open a subscription of the topic. The reply is its number, valid for the caller only."""

    topic: str


class ReadSubscription(Call[str | None], frozen=True):
    """The oldest unread message; None if there is none or the subscription is closed.

    Raises MessageOverflowError, once, if messages were dropped since the last read.
    """

    subscription: int


class AwaitBroadcast(Call[bool], frozen=True):
    """Wait until there is a message to read; False means that the subscription is closed."""

    subscription: int


class CountDropped(Call[int], frozen=True):
    """How many messages a subscription dropped so far because it was full."""

    subscription: int


class Unsubscribe(Call[None], frozen=True):
    """Close a subscription. Closing twice is no error."""

    subscription: int


class Push(Call[None], frozen=True):
    """Append a message to the topic's queue; waits while the queue is full."""

    topic: str
    text: str


class TakeMessage(Call[str | None], frozen=True):
    """The oldest message of the topic's queue; None if there is none beyond those kept for waiting callers.

    With a `ticket` that AwaitMessage has answered there is one.
    """

    topic: str
    ticket: int = 0


class AwaitMessage(Call[None], frozen=True):
    """Wait, in line, until a message of the topic's queue is kept for this `ticket`, a number the caller chose."""

    topic: str
    ticket: int


class LeaveTopic(Call[None], frozen=True):
    """Give up a ticket. The message that was kept for it goes to the next in line. Unknown tickets are ignored."""

    topic: str
    ticket: int


class SendMessage(Call[None], frozen=True):
    """One message to the client. `format` distinguishes text from JSON text."""

    text: str
    format: Literal["text", "json"] = "text"


class SendFile(Call[None], frozen=True):
    """A file to the client."""

    data: bytes
    name: str = ""


class AwaitIncoming(Call[None], frozen=True):
    """Wait until the client has sent something. Taking it is another call, so that a cancelled wait loses nothing.

    Raises SessionClosedError if there is no client to wait for.
    """

    what: Literal["message", "file"]


class ReceiveMessage(Call[str | None], frozen=True):
    """The next message of the client; None if there is none now."""


class ReceiveFile(Call[bytes | None], frozen=True):
    """The next file of the client; None if there is none now."""
