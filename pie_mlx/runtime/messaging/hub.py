"""Keeps the topics of all users."""

from dataclasses import dataclass, field
from typing import NamedTuple

from pie_mlx.errors import InvalidArgumentError, MessageOverflowError
from pie_mlx.runtime.messaging.limits import MessageUsage, MessagingLimits, size_of
from pie_mlx.runtime.messaging.queue import Queue, Ticket
from pie_mlx.runtime.messaging.subscription import Subscription

Topic = tuple[str, str]
"""A user and a topic's name: users never share topics."""


class Message(NamedTuple):
    """A text that was pushed or broadcast, with a number that no other message of its topic has."""

    text: str
    number: int


@dataclass(slots=True)
class Hub:
    """All topics of an engine. Belongs to the engine's loop."""

    limits: MessagingLimits = field(default_factory=MessagingLimits)
    _usages: dict[str, MessageUsage] = field(default_factory=dict[str, MessageUsage])
    _queues: dict[str, dict[str, Queue]] = field(default_factory=dict[str, dict[str, Queue]])
    _subscriptions: dict[Topic, dict[Subscription, None]] = field(default_factory=dict[Topic, dict[Subscription, None]])
    _pushed: int = 0
    """No message of a topic without a queue has a higher number. Those of broadcasts are negative."""
    _broadcasts: int = 0

    def broadcast(self, topic: Topic, text: str) -> int:
        """Put `text` into every open subscription of the topic. Returns its number."""
        size_bytes = size_of(text)
        self._broadcasts += 1
        for subscription in self._subscriptions.get(topic, ()):
            subscription.put(text, size_bytes, -self._broadcasts)
        return -self._broadcasts

    def subscribe(self, topic: Topic) -> Subscription:
        """Open a subscription. Raises InvalidArgumentError at the user's limit."""
        usage = self._usage(topic[0])
        if usage.subscriptions >= self.limits.user_subscriptions:
            raise InvalidArgumentError(
                f"subscribe: programs of user '{topic[0]}' have {usage.subscriptions} subscriptions, the limit",
                hint="unsubscribe from some first",
            )
        usage.subscriptions += 1
        subscription = Subscription(topic[1], self.limits, usage)
        self._subscriptions.setdefault(topic, {})[subscription] = None
        return subscription

    def unsubscribe(self, topic: Topic, subscription: Subscription) -> None:
        """Close a subscription."""
        subscription.close()
        subscription.usage.subscriptions -= 1
        others = self._subscriptions[topic]
        del others[subscription]
        if not others:
            del self._subscriptions[topic]
        self._tidy_usage(topic[0])

    async def push(self, topic: Topic, text: str) -> int:
        """Append to the topic's queue; waits for room. Returns the message's number.

        Raises MessageOverflowError at the user's limits.
        """
        self._check_user(topic, size_of(text))
        try:
            return await self._made(topic).push(text)
        finally:
            self._tidy(topic)

    def pop(self, topic: Topic, ticket: Ticket) -> Message | None:
        """Remove and return the oldest message, if `ticket` is entitled to it."""
        queue = self._found(topic)
        if queue is None:
            return None
        text = queue.pop(ticket)
        self._tidy(topic)
        return None if text is None else Message(text, queue.popped)

    async def wait(self, topic: Topic, ticket: Ticket) -> None:
        """Wait in line for a message."""
        try:
            await self._made(topic).wait(ticket)
        finally:
            self._tidy(topic)

    def leave(self, topic: Topic, ticket: Ticket) -> None:
        """Give up a ticket."""
        queue = self._found(topic)
        if queue is not None:
            queue.leave(ticket)
            self._tidy(topic)

    def check_integrity(self) -> None:
        """Raises RuntimeError if the counts are inconsistent."""
        for username, queues in self._queues.items():
            for queue in queues.values():
                queue.check_integrity()
            if not queues or any(queue.is_empty for queue in queues.values()):
                raise RuntimeError("hub: a queue is empty")
            if username not in self._usages:
                raise RuntimeError(f"hub: no usage of {username}")
        for username, usage in self._usages.items():
            self._check_usage(username, usage)

    @property
    def is_empty(self) -> bool:
        """Whether no user has messages or subscriptions."""
        return not (self._queues or self._subscriptions or self._usages)

    def _found(self, topic: Topic) -> Queue | None:
        username, name = topic
        return self._queues.get(username, {}).get(name)

    def _made(self, topic: Topic) -> Queue:
        username, name = topic
        queues, usage = self._queues.setdefault(username, {}), self._usage(username)
        return queues.setdefault(name, Queue(self.limits, usage, self._pushed, self._pushed))

    def _usage(self, username: str) -> MessageUsage:
        return self._usages.setdefault(username, MessageUsage(self.limits))

    def _tidy(self, topic: Topic) -> None:
        username, name = topic
        queue = self._found(topic)
        if queue is not None and queue.is_empty:
            del self._queues[username][name]
            self._pushed = max(self._pushed, queue.pushed)
            if not self._queues[username]:
                del self._queues[username]
            self._tidy_usage(username)

    def _tidy_usage(self, username: str) -> None:
        if username not in self._queues and self._usages[username].is_empty:
            del self._usages[username]

    def _check_user(self, topic: Topic, size_bytes: int) -> None:
        username, name = topic
        mine = self._queues.get(username, {})
        if name not in mine and len(mine) >= self.limits.user_queues:
            raise _overflow(f"user '{username}' has unread messages in {len(mine)} topics")
        usage = self._usages.get(username)
        if usage is not None and not usage.has_room(size_bytes):
            held = f"{usage.messages} messages with {usage.size_bytes} bytes"
            raise _overflow(f"{held} of user '{username}' wait to be read")

    def _check_usage(self, username: str, usage: MessageUsage) -> None:
        """Raises RuntimeError if the usage differs from what is held."""
        mine = [one for topic, many in self._subscriptions.items() if topic[0] == username for one in many]
        held = [one.held for one in (*mine, *self._queues.get(username, {}).values())]
        found = (sum(size for size, _ in held), sum(number for _, number in held), len(mine))
        if found != (usage.size_bytes, usage.messages, usage.subscriptions):
            raise RuntimeError(f"hub: usage of {username}: {usage}, found {found}")


def _overflow(why: str) -> MessageOverflowError:
    return MessageOverflowError(f"push: {why}", hint="pull them, or use fewer topics", dropped=0)
