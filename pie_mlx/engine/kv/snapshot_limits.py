"""How much the snapshots of one user may take."""

from dataclasses import dataclass

from pie_mlx.engine.kv.pages.image import Image

COMMITTED_TOKEN_BYTES = 16
"""Packed, with its part of what is kept of a page."""
WORKING_TOKEN_BYTES = 160
"""As an object."""


@dataclass(frozen=True, slots=True)
class SnapshotLimits:
    """What one user may keep in memory: snapshots, and bytes of their tokens and notes. Pages are no part of it: they
    are given up when others need them."""

    user_snapshots: int = 4_096
    user_bytes: int = 256 << 20


USUAL_LIMITS = SnapshotLimits()


@dataclass(frozen=True, slots=True)
class Shelved:
    """What a user keeps."""

    snapshots: int = 0
    size_bytes: int = 0

    def changed(self, snapshots: int, size_bytes: int) -> "Shelved":
        """With so many more."""
        return Shelved(self.snapshots + snapshots, self.size_bytes + size_bytes)

    def fits(self, limits: SnapshotLimits) -> bool:
        """Whether that is within the limits."""
        return self.snapshots <= limits.user_snapshots and self.size_bytes <= limits.user_bytes


def kept_bytes(committed_tokens: int, working_tokens: int) -> int:
    """What the tokens of a snapshot take, without their KV."""
    return COMMITTED_TOKEN_BYTES * committed_tokens + WORKING_TOKEN_BYTES * working_tokens


def image_bytes(image: Image, page_size: int) -> int:
    """What the tokens of an image take, without their KV."""
    return kept_bytes(len(image.records) * page_size, len(image.tail.tokens))
