"""What the unread messages of one user take."""

from dataclasses import dataclass

from pie_mlx.runtime.messaging.limits import MessagingLimits


@dataclass(slots=True, eq=False)
class Account:
    """Messages in queues and subscriptions, and those whose pushes wait for room."""

    limits: MessagingLimits
    size_bytes: int = 0
    messages: int = 0
    subscriptions: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.messages or self.subscriptions)

    def has_room(self, size_bytes: int) -> bool:
        """Whether one more message of that size may be kept."""
        fits = self.size_bytes + size_bytes <= self.limits.user_bytes
        return fits and self.messages < self.limits.user_messages

    def add(self, size_bytes: int) -> None:
        self.size_bytes += size_bytes
        self.messages += 1

    def drop(self, size_bytes: int, messages: int = 1) -> None:
        self.size_bytes -= size_bytes
        self.messages -= messages
