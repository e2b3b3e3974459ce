"""How much may be kept of messages nobody has read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MessagingLimits:
    """Counts are of messages where nothing else is said. Bytes are those of UTF-8.

    A full queue makes pushes wait; a full subscription drops the newest, and so does any when a user has `user_bytes`
    of messages in queues and subscriptions; a push, beyond that or `user_queues`, and one more subscription than a
    process or a user may have are errors.
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
    """The bytes of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


@dataclass(slots=True, eq=False)
class MessageUsage:
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

    def reserve(self, size_bytes: int) -> None:
        self.size_bytes += size_bytes
        self.messages += 1

    def release(self, size_bytes: int, messages: int = 1) -> None:
        self.size_bytes -= size_bytes
        self.messages -= messages
