"""What a process reaches besides the model: other processes, its children and MCP servers.

All of it is the runtime's. The methods are called on the engine's loop and must not block it; those that wait may be
cancelled, and have then changed nothing. They raise the PieError that the call is answered with.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pie_mlx.calls import ChildOutcome, HttpRequest


class MessagingPort(Protocol):
    """The topics of a process's user, as that process sees them. Subscriptions and tickets are its own numbers."""

    def broadcast(self, topic: str, text: str) -> None: ...

    def subscribe(self, topic: str) -> int: ...

    def read(self, subscription: int) -> str | None: ...

    async def wait_for_broadcast(self, subscription: int) -> bool: ...

    def dropped(self, subscription: int) -> int: ...

    def unsubscribe(self, subscription: int) -> None: ...

    async def push(self, topic: str, text: str) -> None: ...

    def take(self, topic: str, ticket: int) -> str | None: ...

    async def wait_for_message(self, topic: str, ticket: int) -> None: ...

    def leave(self, topic: str, ticket: int) -> None: ...

    def close(self) -> None:
        """The process has ended: it is subscribed to nothing and waits for nothing."""
        ...


class ChildrenPort(Protocol):
    """What a process launches. A child is named by its id; the parent's own children only."""

    async def launch(self, program: str, input: str) -> str: ...

    async def outcome(self, child: str) -> ChildOutcome: ...

    async def cancel(self, child: str) -> None: ...

    async def forget(self, child: str) -> None: ...


class McpPort(Protocol):
    """The MCP servers a process can use. `params` and answers are JSON text."""

    async def servers(self) -> list[str]: ...

    async def request(self, server: str, method: str, params: str) -> str: ...


class HttpPort(Protocol):
    """The request a process was started for, and where its answer goes."""

    @property
    def request(self) -> HttpRequest: ...

    @property
    def status(self) -> int:
        """The HTTP status of the answer; 0 before it begins."""
        ...

    @property
    def asked_seconds(self) -> float:
        """When the request had arrived, on the monotonic clock."""
        ...

    def begin(self, status: int, headers: Sequence[tuple[str, str]]) -> None: ...

    async def write(self, data: bytes, *, last: bool = False) -> None: ...


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports of one process; `http` is None for one that answers no request."""

    messaging: MessagingPort
    children: ChildrenPort
    mcp: McpPort
    http: HttpPort | None = None
