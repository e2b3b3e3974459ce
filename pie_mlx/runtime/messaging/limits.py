"""Limits on unread messages, and how much of them a user uses."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MessagingLimits:
    """Bytes are those of UTF-8.

    Pushes to a full queue wait. A full subscription drops new messages, and so does every subscription of a user who
    has `user_bytes` in queues and subscriptions. A push beyond `user_bytes` or `user_queues` is an error, and so is a
    subscription beyond the limits of a process or user.
    """

    queue_messages: int = 4_096
    queue_bytes: int = 64 << 20
    subscription_messages: int = 1_024
    subscription_bytes: int = 16 << 20
    user_queues: int = 4_096
    user_bytes: int = 256 << 20
    user_messages: int = 262_144
    process_subscriptions: int = 256
    user_subscriptions: int = 4_096


def size_of(text: str) -> int:
    """Size of a text in UTF-8, in bytes."""
    return len(text) if text.isascii() else len(text.encode())


@dataclass(slots=True, eq=False)
class MessageUsage:
    """What one user's unread messages use: in queues and subscriptions, and in pushes that wait for room."""

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

    def reserve(self, size_bytes: int) -> None:
        self.size_bytes += size_bytes
        self.messages += 1

    def release(self, size_bytes: int, messages: int = 1) -> None:
        self.size_bytes -= size_bytes
        self.messages -= messages
