"""The memory that the calls of users take while they are under way."""

from collections import Counter
from dataclasses import dataclass, field

USER_LIMIT_BYTES = 512 << 20
"""Of all programs of a user; one call may take more."""


@dataclass(slots=True, eq=False)
class UserHoldings:
    """Of one user."""

    username: str
    _all: "Counter[str]"

    @property
    def held_bytes(self) -> int:
        return self._all[self.username]

    def has_room(self, size_bytes: int) -> bool:
        held_bytes = self.held_bytes
        return not held_bytes or held_bytes + size_bytes <= USER_LIMIT_BYTES

    def add(self, size_bytes: int) -> None:
        """Count more, or less."""
        self._all[self.username] += size_bytes
        if not self._all[self.username]:
            del self._all[self.username]


@dataclass(frozen=True, slots=True)
class Holdings:
    """Of all users of an engine."""

    _held: "Counter[str]" = field(default_factory=Counter[str])

    def of(self, username: str) -> UserHoldings:
        return UserHoldings(username, self._held)
