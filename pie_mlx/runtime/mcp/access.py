"""The MCP servers one process can use: those of its client, and those of the engine."""

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pie_mlx.errors import McpError
from pie_mlx.events import Event, McpCalled
from pie_mlx.runtime.execution.loops import on_loop
from pie_mlx.runtime.mcp.error import NO_ANSWER, mcp_error, not_registered
from pie_mlx.runtime.mcp.listing import LIST_TOOLS, tools_listed
from pie_mlx.runtime.mcp.servers import McpServers
from pie_mlx.runtime.mcp.tool_call import called_tool, tool_error, with_traceparent
from pie_mlx.trace.traceparent import TraceParent


class McpRelay(Protocol):
    """Carries requests to the servers a client has registered. Called on the loop of the engine's owner.

    `servers` is empty while no client is attached. `request` returns the JSON-RPC `result` as JSON text and raises
    McpError for an error. It is cancelled once the program stops waiting.
    """

    def servers(self) -> list[str]: ...

    async def request(self, server: str, method: str, params_json: str) -> str: ...


@dataclass(frozen=True, slots=True)
class McpAccess:
    """The `McpPort` of one process. `relays` returns those of the process and its ancestors, nearest first, on `loop`.

    The first relay with any server is used; its servers hide configured ones of the same name. With a `trace`, the span
    of the process, each request names a span below it.
    """

    process: str
    configured: McpServers
    relays: Callable[[], list[McpRelay]]
    loop: asyncio.AbstractEventLoop
    timeout_seconds: float
    emit: Callable[[Event], None]
    trace: TraceParent | None = None
    clock: Callable[[], float] = time.monotonic

    async def servers(self) -> list[str]:
        return await on_loop(self.loop, self._names())

    async def request(self, server: str, method: str, params: str) -> str:
        began_seconds = self.clock()
        tool, error, span = called_tool(method, params), "", ""
        if self.trace is not None:
            span = secrets.token_hex(8)
            params = with_traceparent(params, self.trace.child(span))
        try:
            result = await on_loop(self.loop, self._request(server, method, params))
            error = tool_error(result) if tool else ""
        except McpError as raised:
            error = raised.message
            raise
        finally:
            now = self.clock()
            self.emit(McpCalled(self.process, server, method, now - began_seconds, error, tool, now, span))
        if method == LIST_TOOLS and (listed := tools_listed(self.process, server, params, result)):
            self.emit(listed)
        return result

    async def _names(self) -> list[str]:
        mine, _ = self._client()
        return [*mine, *(name for name in self.configured.names if name not in mine)]

    async def _request(self, server: str, method: str, params: str) -> str:
        mine, relay = self._client()
        if relay is not None and server in mine:
            return await self._relayed(relay, server, method, params)
        if server not in self.configured.names:
            raise not_registered(server, [*mine, *self.configured.names])
        return await self.configured.request(server, method, params)

    async def _relayed(self, relay: McpRelay, server: str, method: str, params: str) -> str:
        try:
            async with asyncio.timeout(self.timeout_seconds):
                return await relay.request(server, method, params)
        except TimeoutError:
            raise mcp_error(
                NO_ANSWER, f"MCP server '{server}': the client did not answer within {self.timeout_seconds:g} s"
            ) from None

    def _client(self) -> tuple[list[str], McpRelay | None]:
        for relay in self.relays():
            if names := relay.servers():
                return list(dict.fromkeys(names)), relay
        return [], None
