"""All topics of an engine."""

from dataclasses import dataclass, field

from pie_mlx.errors import MessageOverflowError
from pie_mlx.runtime.messaging.channel import Channel
from pie_mlx.runtime.messaging.limits import MessagingLimits, size_of
from pie_mlx.runtime.messaging.queue import Queue, Ticket
from pie_mlx.runtime.messaging.subscription import Subscription

Topic = tuple[str, str]
"""A user, and the topic's name: programs of one user meet, users never do."""


@dataclass(slots=True)
class Hub:
    """Belongs to the engine's loop: everything but `channel` is called there."""

    limits: MessagingLimits = field(default_factory=MessagingLimits)
    _queues: dict[str, dict[str, Queue]] = field(default_factory=dict[str, dict[str, Queue]])
    _subscriptions: dict[Topic, dict[Subscription, None]] = field(default_factory=dict[Topic, dict[Subscription, None]])

    def channel(self, username: str, process: str) -> Channel:
        """The port of one process."""
        return Channel(self, username, process)

    def broadcast(self, topic: Topic, text: str) -> None:
        """Give `text` to every open subscription of the topic."""
        for subscription in self._subscriptions.get(topic, ()):
            subscription.put(text)

    def subscribe(self, topic: Topic) -> Subscription:
        """A new subscription, open from now on."""
        subscription = Subscription(topic[1], self.limits)
        self._subscriptions.setdefault(topic, {})[subscription] = None
        return subscription

    def unsubscribe(self, topic: Topic, subscription: Subscription) -> None:
        """Close a subscription."""
        subscription.close()
        others = self._subscriptions[topic]
        del others[subscription]
        if not others:
            del self._subscriptions[topic]

    async def push(self, topic: Topic, text: str) -> None:
        """Append to the topic's queue; waits for room. Raises MessageOverflowError beyond what a user may have."""
        self._check_user(topic, size_of(text))
        try:
            await self._made(topic).push(text)
        finally:
            self._tidy(topic)

    def take(self, topic: Topic, ticket: Ticket) -> str | None:
        """The oldest message, where `ticket` may have it."""
        queue = self._found(topic)
        if queue is None:
            return None
        text = queue.take(ticket)
        self._tidy(topic)
        return text

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
        """Raises RuntimeError when the books do not balance."""
        for queues in self._queues.values():
            for queue in queues.values():
                queue.check_integrity()
            if not queues or any(queue.is_empty for queue in queues.values()):
                raise RuntimeError("hub: it keeps an empty queue")

    @property
    def is_empty(self) -> bool:
        """Whether nothing is kept for anybody."""
        return not (self._queues or self._subscriptions)

    def _found(self, topic: Topic) -> Queue | None:
        username, name = topic
        return self._queues.get(username, {}).get(name)

    def _made(self, topic: Topic) -> Queue:
        username, name = topic
        return self._queues.setdefault(username, {}).setdefault(name, Queue(self.limits))

    def _tidy(self, topic: Topic) -> None:
        username, name = topic
        queue = self._found(topic)
        if queue is not None and queue.is_empty:
            del self._queues[username][name]
            if not self._queues[username]:
                del self._queues[username]

    def _check_user(self, topic: Topic, size_bytes: int) -> None:
        username, name = topic
        mine = self._queues.get(username, {})
        if name not in mine and len(mine) >= self.limits.user_queues:
            raise _overflow(f"user '{username}' has messages in {len(mine)} topics that nobody pulls")
        held_bytes = sum(queue.held_bytes for queue in mine.values())
        if held_bytes + size_bytes > self.limits.user_bytes:
            raise _overflow(f"{held_bytes} bytes of messages of user '{username}' wait to be pulled")


def _overflow(why: str) -> MessageOverflowError:
    return MessageOverflowError(f"push: {why}", hint="pull them, or use fewer topics", dropped=0)
