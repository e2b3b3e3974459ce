"""Adapter files on their way between a program and the engine, in parts."""

from dataclasses import dataclass, field

from pie_mlx.calls import AdapterPart
from pie_mlx.errors import InvalidArgumentError

PART_BYTES = 4 << 20
"""How much of a file the engine sends at once."""


@dataclass(slots=True)
class Upload:
    """Weights of an adapter that a program is sending."""

    adapter: int
    config: str
    size_bytes: int
    data: bytearray = field(default_factory=bytearray)

    def add(self, offset: int, data: bytes) -> bool:
        """Add a part; returns whether it was the last. Raises InvalidArgumentError for a part that does not follow."""
        if offset != len(self.data) or offset + len(data) > self.size_bytes:
            raise InvalidArgumentError(
                f"adapter: {len(data)} bytes at {offset} of {self.size_bytes}, {len(self.data)} are there",
                hint="parts are sent in order",
            )
        self.data += data
        return len(self.data) == self.size_bytes


@dataclass(frozen=True, slots=True)
class Download:
    """A saved adapter that a program is fetching."""

    adapter: int
    config: str
    data: bytes

    def part(self, offset: int) -> AdapterPart:
        """The part that begins at `offset`. Raises InvalidArgumentError beyond the end."""
        if not 0 <= offset <= len(self.data):
            raise InvalidArgumentError(
                f"adapter: offset {offset} of {len(self.data)} bytes", hint="read the parts in order"
            )
        return AdapterPart(self.config, len(self.data), self.data[offset : offset + PART_BYTES])
