"""Topics: broadcasts to whoever is subscribed, and queues of which each message goes to one.

Waiting and taking are calls of their own: a wait that is given up must not take a message with it.
"""

from pie_mlx.calls.base import Call


class Broadcast(Call[None], frozen=True):
    """Give a message to every subscription of the topic that is open now (I4)."""

    topic: str
    text: str


class Subscribe(Call[int], frozen=True):
    """Open a subscription of the topic; answers its number, which is the caller's own."""

    topic: str


class ReadSubscription(Call[str | None], frozen=True):
    """The oldest message not read yet, None when there is none or the subscription is closed.

    Raises MessageOverflowError, once, when messages were dropped since the last read.
    """

    subscription: int


class AwaitBroadcast(Call[bool], frozen=True):
    """Wait until there is something to read; False says that the subscription is closed."""

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
    """The oldest message of the topic's queue, None when there is none that nobody else waits for.

    With a `ticket` that AwaitMessage has answered there is one.
    """

    topic: str
    ticket: int = 0


class AwaitMessage(Call[None], frozen=True):
    """Wait, in line, until a message of the topic's queue is kept for this `ticket`, a number the caller chose."""

    topic: str
    ticket: int


class LeaveTopic(Call[None], frozen=True):
    """Give up a ticket: the message that was kept for it goes to the next in line. Unknown tickets are ignored."""

    topic: str
    ticket: int
