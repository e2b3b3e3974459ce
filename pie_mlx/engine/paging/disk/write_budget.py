"""How much may be written to the disk per day: a bucket that drains with each write and fills up with time."""

import msgspec

DAY_SECONDS = 86_400.0


class Writes(msgspec.Struct, frozen=True):
    """`left_bytes` were in the bucket at `at_seconds` of the system's clock; `written_bytes` in all since
    `since_seconds`."""

    left_bytes: float
    at_seconds: float
    written_bytes: int = 0
    since_seconds: float = 0.0


class WriteBudget(msgspec.Struct, frozen=True):
    """Arithmetic on `Writes`, for a bucket that holds `day_bytes`."""

    day_bytes: int

    def first(self, now: float) -> Writes:
        """A full bucket."""
        return Writes(self.day_bytes, now, since_seconds=now)

    def now(self, writes: Writes, now: float) -> Writes:
        """The bucket as it is at `now`. A clock that was set back fills nothing."""
        passed = max(0.0, now - writes.at_seconds)
        left = min(float(self.day_bytes), writes.left_bytes + passed / DAY_SECONDS * self.day_bytes)
        return msgspec.structs.replace(writes, left_bytes=left, at_seconds=now)

    def after(self, writes: Writes, size_bytes: int) -> Writes:
        """The bucket when so many bytes were written."""
        return msgspec.structs.replace(
            writes, left_bytes=writes.left_bytes - size_bytes, written_bytes=writes.written_bytes + size_bytes
        )

    def allows(self, writes: Writes, size_bytes: int, *, used_twice: bool) -> bool:
        """Whether to write: from the lower half of the bucket only what was used more than once."""
        left = writes.left_bytes - size_bytes
        return left >= (0 if used_twice else self.day_bytes / 2)
