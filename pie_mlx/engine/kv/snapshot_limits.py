"""Limits on the snapshots of one user."""

from dataclasses import dataclass

from pie_mlx.engine.kv.pages.image import Image

COMMITTED_TOKEN_BYTES = 16
"""A packed token, with its share of the page record."""
WORKING_TOKEN_BYTES = 160
"""A token as an object."""


@dataclass(frozen=True, slots=True)
class SnapshotLimits:
    """Most that one user may keep in memory: snapshots, and bytes of their tokens and notes. Pages do not count: they
    are reclaimed when others need them."""

    user_snapshots: int = 4_096
    user_bytes: int = 256 << 20


USUAL_LIMITS = SnapshotLimits()


@dataclass(frozen=True, slots=True)
class SnapshotUsage:
    """What one user keeps."""

    snapshots: int = 0
    size_bytes: int = 0

    def changed(self, snapshots: int, size_bytes: int) -> "SnapshotUsage":
        """The usage after so many more snapshots and bytes."""
        return SnapshotUsage(self.snapshots + snapshots, self.size_bytes + size_bytes)

    def fits(self, limits: SnapshotLimits) -> bool:
        """Whether the usage is within `limits`."""
        return self.snapshots <= limits.user_snapshots and self.size_bytes <= limits.user_bytes


def kept_bytes(committed_tokens: int, working_tokens: int) -> int:
    """Bytes that the tokens of a snapshot take, without their KV."""
    return COMMITTED_TOKEN_BYTES * committed_tokens + WORKING_TOKEN_BYTES * working_tokens


def image_bytes(image: Image, page_size: int) -> int:
    """Bytes that the tokens of an image take, without their KV."""
    return kept_bytes(len(image.records) * page_size, len(image.tail.tokens))
