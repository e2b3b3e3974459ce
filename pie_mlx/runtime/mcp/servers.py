"""The MCP servers of an engine's configuration, each shared by all programs."""

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pie_mlx.errors import ConfigError, McpError
from pie_mlx.events import Event, McpServerStarted, McpServerStopped, McpTool
from pie_mlx.runtime.execution.loops import LoopThread
from pie_mlx.runtime.mcp.error import NO_ANSWER, mcp_error, not_registered
from pie_mlx.runtime.mcp.listing import LIST_TOOLS, tools_listed, with_listed
from pie_mlx.runtime.mcp.server import McpServer, McpServerState
from pie_mlx.runtime.mcp.stderr_tail import StderrTail
from pie_mlx.runtime.mcp.tool_call import called_tool, tool_error

if TYPE_CHECKING:
    from pie_mlx.runtime.mcp.connection import Connection

RESTARTS = 3
RESTART_WINDOW_SECONDS = 60.0
"""A server is restarted at most RESTARTS times within this window."""


class SharedServer:
    """A configured server with one connection, made with the first request and after a crash. Belongs to one loop."""

    def __init__(self, server: McpServer, *, timeout_seconds: float, emit: Callable[[Event], None]) -> None:
        self._server = server
        self._timeout_seconds = timeout_seconds
        self._emit = emit
        self._stderr = StderrTail()
        self._connection: Connection | None = None
        self._connections: list[Connection] = []
        self._opening: asyncio.Task[Connection] | None = None
        self._restarts: deque[float] = deque()
        self._calls = self._failures = self._starts = 0
        self._last_error = ""
        self._tools: tuple[McpTool, ...] = ()

    async def request(self, method: str, params: str) -> str:
        """The `result` as JSON text. Raises McpError, also on a timeout."""
        self._calls += 1
        try:
            result = await self._request(method, params)
        except McpError as error:
            self._failures += 1
            self._last_error = error.message
            raise
        if called_tool(method, params) and (error := tool_error(result)):
            self._failures += 1
            self._last_error = error
        if method == LIST_TOOLS and (listed := tools_listed("", self._server.name, params, result)):
            self._tools = with_listed(self._tools, listed)
        return result

    def state(self) -> McpServerState:
        """For the monitor."""
        return McpServerState(
            name=self._server.name,
            transport=self._server.transport,
            running=self._connection is not None and self._connection.is_open,
            calls=self._calls,
            failures=self._failures,
            starts=self._starts,
            last_error=self._last_error,
            stderr=self._stderr.lines,
            tools=self._tools,
        )

    async def close(self) -> None:
        """End the server."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
        await asyncio.gather(*(connection.close() for connection in self._connections))

    async def _request(self, method: str, params: str) -> str:
        try:
            async with asyncio.timeout(self._timeout_seconds):
                connection = await self._connected()
                return await connection.request(method, json.loads(params))
        except TimeoutError:
            raise mcp_error(NO_ANSWER, self._silence()) from None

    def _silence(self) -> str:
        garbage = self._connection.garbage if self._connection else ""
        return (
            f"MCP server '{self._server.name}' did not answer within {self._timeout_seconds:g} s"
            f"{'; it wrote a line that is not JSON-RPC: ' + garbage if garbage else ''}"
        )

    async def _connected(self) -> "Connection":
        if self._connection is not None and self._connection.is_open:
            return self._connection
        if self._opening is None:
            self._check_restarts()
            self._opening = asyncio.create_task(self._open())
            self._opening.add_done_callback(self._opened)
        return await asyncio.shield(self._opening)

    def _check_restarts(self) -> None:
        now = time.monotonic()
        while self._restarts and self._restarts[0] <= now - RESTART_WINDOW_SECONDS:
            self._restarts.popleft()
        if len(self._restarts) >= RESTARTS:
            wait_seconds = self._restarts[0] + RESTART_WINDOW_SECONDS - now
            raise mcp_error(
                NO_ANSWER,
                f"MCP server '{self._server.name}' was restarted {RESTARTS} times in a minute, the next time is in "
                f"{wait_seconds:.0f} s: {self._last_error}",
            )
        if self._starts:
            self._restarts.append(now)

    async def _open(self) -> "Connection":
        from pie_mlx.runtime.mcp.connection import Connection

        self._starts += 1
        connection = Connection(self._server, self._stderr, self._ended)
        self._connections = [*(earlier for earlier in self._connections if not earlier.is_gone), connection]
        async with asyncio.timeout(self._timeout_seconds):
            await connection.open()
        self._connection = connection
        self._emit(McpServerStarted(self._server.name, self._server.transport, self._starts))
        return connection

    def _opened(self, opening: "asyncio.Task[Connection]") -> None:
        self._opening = None
        if not opening.cancelled() and (error := opening.exception()) is not None:
            self._emit(McpServerStopped(self._server.name, str(error), self._stderr.lines))

    def _ended(self, reason: str) -> None:
        self._last_error = f"MCP server '{self._server.name}' ended: {reason}"
        self._emit(McpServerStopped(self._server.name, reason, self._stderr.lines))


DEFAULT_TIMEOUT_SECONDS = 120.0


class McpServers:
    """All configured servers. Usable from any loop; they run on one thread, started with the first request.

    `emit` is called on that thread. Raises ConfigError if two servers have the same name.
    """

    def __init__(
        self,
        servers: Sequence[McpServer] = (),
        *,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        emit: Callable[[Event], None] = lambda event: None,
    ) -> None:
        self._servers = {
            server.name: SharedServer(server, timeout_seconds=timeout_seconds, emit=emit) for server in servers
        }
        if len(self._servers) < len(servers):
            raise ConfigError("MCP servers: two of them have one name", hint="rename one of the [[mcp]] tables")
        self._thread = LoopThread("pie-mcp")

    @property
    def names(self) -> list[str]:
        """In configuration order."""
        return list(self._servers)

    async def request(self, server: str, method: str, params: str) -> str:
        """The `result` as JSON text. Raises McpError."""
        found = self._servers.get(server)
        if found is None:
            raise not_registered(server, self.names)
        return await self._thread.run(lambda: found.request(method, params))

    def states(self) -> list[McpServerState]:
        """The approximate current states, for the monitor."""
        return [server.state() for server in self._servers.values()]

    async def close(self) -> None:
        """End all of them. Idempotent."""
        await self._thread.close(self._close)

    async def _close(self) -> None:
        for server in self._servers.values():
            await server.close()
