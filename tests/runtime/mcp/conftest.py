from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from pie_mlx.events import Event
from pie_mlx.runtime.mcp import McpServer, McpServers
from tests.runtime.mcp.servers import small_server


class Started:
    """Configured servers, and the events they gave."""

    def __init__(self, servers: list[McpServer], timeout_seconds: float) -> None:
        self.events: list[Event] = []
        self.servers = McpServers(servers, timeout_seconds=timeout_seconds, emit=self.events.append)

    async def call(self, tool: str, server: str = "small") -> str:
        return await self.servers.request(server, "tools/call", f'{{"name": "{tool}", "arguments": {{}}}}')


@pytest.fixture
async def small(tmp_path: Path) -> AsyncGenerator[Callable[..., Started], None]:
    """Makes servers of a behaviour, and ends them."""
    async with AsyncExitStack() as stack:

        def make(behaviour: str = "", *, timeout_seconds: float = 30) -> Started:
            started = Started([small_server(tmp_path, behaviour)], timeout_seconds)
            stack.push_async_callback(started.servers.close)
            return started

        yield make
