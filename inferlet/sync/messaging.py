"""Messages between the inferlets of a user, blocking."""

from collections.abc import Iterator
from typing import Self

from inferlet import messaging
from inferlet.messaging import broadcast, push
from inferlet.sync._blocking import wait

__all__ = ["Subscription", "broadcast", "pull", "push", "subscribe"]


def pull(topic: str) -> str:
    """Wait for the next message of the topic's queue. Pullers are served in order."""
    return wait(messaging.pull(topic))


def subscribe(topic: str) -> "Subscription":
    """Open a subscription. Raises InvalidArgumentError for a topic that is too long or too many subscriptions."""
    return Subscription(messaging.subscribe(topic))


class Subscription:
    """The broadcasts of a topic since it was opened, in order; iterating waits for the next one.

    When too many wait to be read, the newest are dropped; the next read then raises MessageOverflowError once.
    """

    def __init__(self, subscription: messaging.Subscription) -> None:
        self._subscription = subscription
        self.topic = subscription.topic

    @property
    def dropped(self) -> int:
        """The number of messages dropped so far."""
        return self._subscription.dropped

    def get(self) -> str | None:
        """The next message, or None when there is none now. Raises MessageOverflowError."""
        return self._subscription.get()

    def next(self) -> str | None:
        """Wait for the next message; None after `unsubscribe`. Raises MessageOverflowError."""
        return wait(self._subscription.next())

    def unsubscribe(self) -> None:
        """Close it; unread messages are lost. Closing twice is no error."""
        self._subscription.unsubscribe()

    def __iter__(self) -> Iterator[str]:
        while (text := self.next()) is not None:
            yield text

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.unsubscribe()
