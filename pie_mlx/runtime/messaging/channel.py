"""Topics, as one process uses them."""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from pie_mlx.errors import InvalidArgumentError, PieError
from pie_mlx.events import Event, MessageReceived, MessageSent, WantedDetails
from pie_mlx.runtime.messaging.hub import Hub
from pie_mlx.runtime.messaging.interruptible_waits import InterruptibleWaits
from pie_mlx.runtime.messaging.subscription import Subscription


@dataclass(slots=True)
class Channel:
    """The `MessagingPort` of one process: keeps its subscriptions and its tickets in queues."""

    hub: Hub
    username: str
    process: str
    emit: Callable[[Event], None] = lambda event: None
    details: WantedDetails = field(default_factory=WantedDetails)
    clock: Callable[[], float] = time.monotonic
    _subscriptions: dict[int, Subscription] = field(default_factory=dict[int, Subscription])
    _tickets: dict[tuple[str, int], None] = field(default_factory=dict[tuple[str, int], None])
    _waits: InterruptibleWaits = field(default_factory=InterruptibleWaits)
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def broadcast(self, topic: str, text: str) -> None:
        self._report(MessageSent, topic, self.hub.broadcast((self.username, topic), text))

    def subscribe(self, topic: str) -> int:
        """Raises InvalidArgumentError for too many subscriptions."""
        limit = self.hub.limits.process_subscriptions
        if len(self._subscriptions) >= limit:
            raise InvalidArgumentError(
                f"subscribe: this process has {limit} subscriptions, the limit", hint="unsubscribe from some first"
            )
        number = next(self._numbers)
        self._subscriptions[number] = self.hub.subscribe((self.username, topic))
        return number

    def read(self, subscription: int) -> str | None:
        found = self._subscriptions.get(subscription)
        text = None if found is None else found.pop()
        if found is not None and text is not None:
            self._report(MessageReceived, found.topic, found.popped)
        return text

    async def wait_for_broadcast(self, subscription: int) -> bool:
        """Raises ChildFailedError, as `set_failure` says."""
        found = self._subscriptions.get(subscription)
        if found is None:
            return False
        with self._waits.waiting():
            return await found.wait()

    def dropped(self, subscription: int) -> int:
        found = self._subscriptions.get(subscription)
        return 0 if found is None else found.dropped

    def unsubscribe(self, subscription: int) -> None:
        found = self._subscriptions.pop(subscription, None)
        if found is not None:
            self.hub.unsubscribe((self.username, found.topic), found)

    async def push(self, topic: str, text: str) -> None:
        self._report(MessageSent, topic, await self.hub.push((self.username, topic), text))

    def take(self, topic: str, ticket: int) -> str | None:
        self._tickets.pop((topic, ticket), None)
        message = self.hub.pop((self.username, topic), (self.process, ticket))
        if message is None:
            return None
        self._report(MessageReceived, topic, message.number)
        return message.text

    async def wait_for_message(self, topic: str, ticket: int) -> None:
        """Raises InvalidArgumentError for a ticket in use, and ChildFailedError, as `set_failure` says."""
        if (topic, ticket) in self._tickets:
            raise InvalidArgumentError(f"ticket {ticket}: already in use", hint="number tickets consecutively")
        self._tickets[topic, ticket] = None
        try:
            with self._waits.waiting():
                await self.hub.wait((self.username, topic), (self.process, ticket))
        except BaseException:
            self._tickets.pop((topic, ticket), None)
            raise

    def leave(self, topic: str, ticket: int) -> None:
        if self._tickets.pop((topic, ticket), True) is None:
            self.hub.leave((self.username, topic), (self.process, ticket))

    def set_failure(self, child: str, error: PieError | None) -> None:
        """Raise `error` in one wait for a message, the present or the next one; None withdraws it. On any thread."""
        self._waits.set_failure(child, error)

    def close(self) -> None:
        for number in list(self._subscriptions):
            self.unsubscribe(number)
        for topic, ticket in list(self._tickets):
            self.leave(topic, ticket)

    def _report(self, kind: type[MessageSent] | type[MessageReceived], topic: str, number: int) -> None:
        if self.details.messages:
            self.emit(kind(self.process, topic, number, self.clock()))
