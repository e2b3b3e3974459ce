"""Programs and files that arrive in chunks."""

from dataclasses import dataclass, field

from pie_mlx.errors import ProtocolError


@dataclass(slots=True)
class Upload:
    """Chunks of one payload, in order. `limit_bytes` is what it may come to, `heard_seconds` when the latest came."""

    total: int
    limit_bytes: int
    chunks: list[bytes] = field(default_factory=list[bytes])
    size_bytes: int = 0
    heard_seconds: float = 0.0

    @property
    def expected(self) -> int:
        return len(self.chunks)

    @property
    def is_complete(self) -> bool:
        return len(self.chunks) == self.total

    def add(self, index: int, total: int, data: bytes) -> None:
        """Raises ProtocolError for a chunk that does not follow, or is one too many."""
        if not self.chunks and index != 0:
            raise ProtocolError("First chunk index must be 0")
        if total != self.total:
            raise ProtocolError(f"Chunk count mismatch: expected {self.total}, got {total}")
        if index != self.expected:
            raise ProtocolError(f"Out-of-order chunk: expected {self.expected}, got {index}")
        if self.size_bytes + len(data) > self.limit_bytes:
            raise ProtocolError(f"upload exceeds max_upload_mb cap of {self.limit_bytes >> 20} MiB")
        self.chunks.append(data)
        self.size_bytes += len(data)

    def payload(self) -> bytes:
        return b"".join(self.chunks)
