"""One connection to an MCP server, through the official client.

That package takes more than a second to import, so only this module imports it, and is itself imported with the first
connection.
"""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, cast

import anyio.abc
import httpx2
from mcp.client import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.dispatcher import CallOptions, OnNotify, OnNotifyIntercept, OnRequest
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from mcp_types import CONNECTION_CLOSED, Implementation

from pie_mlx import __version__
from pie_mlx.runtime.mcp.error import NO_ANSWER, mcp_error
from pie_mlx.runtime.mcp.server import McpServer
from pie_mlx.runtime.mcp.stderr_tail import StderrTail

GARBAGE_LIMIT = 100
"""Lines that are not JSON-RPC before the connection is closed: some servers print a greeting."""
ANSWER_LIMIT_BYTES = 16 << 20

_HTTP_CONNECT_SECONDS = 30.0
_OBITUARY_SECONDS = 1.0
_CLOSED = "Connection closed"
_FORGOTTEN = "Session terminated"

# Without a handler the package's warnings about servers would be printed on the terminal.
for _name in ("mcp", "client"):
    logging.getLogger(_name).addHandler(logging.NullHandler())


class Connection:
    """Open from `open` until the server ends, breaks the protocol, or `close`. Belongs to one loop.

    `on_end` is called with the reason when it ends without `close`. `garbage` is the last line since the last answer
    that was not JSON-RPC.
    """

    def __init__(self, server: McpServer, stderr: StderrTail, on_end: Callable[[str], None]) -> None:
        self.garbage = ""
        self._greeted = False
        self._server = server
        self._stderr = stderr
        self._on_end = on_end
        self._garbage_lines = 0
        self._closing = False
        self._reason = ""
        self._ending = asyncio.Event()
        self._options: CallOptions = {}
        self._dispatcher: _Dispatcher | None = None
        self._holder: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether requests can be made."""
        return self._greeted and not self._ending.is_set()

    @property
    def is_gone(self) -> bool:
        """Whether it has ended completely."""
        return self._holder is None or self._holder.done()

    async def open(self) -> None:
        """Start or reach the server and initialize the session. Raises McpError. If cancelled, it begins to close."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._holder = asyncio.create_task(self._hold(ready))
        try:
            await ready
        except asyncio.CancelledError:
            self._closing = True
            self._ending.set()
            raise

    async def request(self, method: str, params: dict[str, Any]) -> str:
        """The `result` of the response as JSON text. Raises McpError for an error, or if the server ends."""
        if self._dispatcher is None:
            raise mcp_error(NO_ANSWER, f"MCP server '{self._server.name}': not connected")
        try:
            result = await self._dispatcher.send_raw_request(method, params, self._options)
        except MCPError as error:
            raise await self._translated(error) from None
        self.garbage = ""
        text = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
        if len(text.encode()) > ANSWER_LIMIT_BYTES:
            raise mcp_error(
                NO_ANSWER, f"MCP server '{self._server.name}': the answer is longer than {ANSWER_LIMIT_BYTES >> 20} MiB"
            )
        return text

    async def close(self) -> None:
        """End the server or the session. A server that does not exit is killed after two seconds."""
        self._closing = True
        self._ending.set()
        if self._holder is not None:
            await asyncio.gather(self._holder, return_exceptions=True)

    async def _translated(self, error: MCPError) -> Exception:
        if error.code == CONNECTION_CLOSED and error.message == _CLOSED:
            await self._passed_away()
        if error.message == _FORGOTTEN and self._server.transport == "http":
            self._reason = "it has forgotten the session"
            self._ending.set()
        if not self._ending.is_set():
            return mcp_error(error.code, error.message, error.data)
        return mcp_error(NO_ANSWER, f"MCP server '{self._server.name}' ended before it answered: {self._reason}")

    async def _passed_away(self) -> None:
        """The client reports a closed connection: give it time to report the cause."""
        if self._holder is not None:
            await asyncio.wait([self._holder], timeout=_OBITUARY_SECONDS)

    async def _hold(self, ready: "asyncio.Future[None]") -> None:
        """Enter and leave everything in this one task, as the client's cancel scopes require."""
        try:
            async with self._transport() as (reading, writing):
                self._dispatcher = _Dispatcher(reading, writing, on_stream_exception=self._count_garbage)
                self._dispatcher.on_end = self._ending.set
                await self._greet(self._dispatcher, ready)
        except Exception as error:
            self._reason = self._reason or _described(error)
        finally:
            self._end()
            if not ready.done():
                ready.set_exception(self._cannot_start())

    async def _greet(self, dispatcher: "_Dispatcher", ready: "asyncio.Future[None]") -> None:
        about = Implementation(name="pie-mlx", version=__version__)
        async with ClientSession(dispatcher=dispatcher, client_info=about) as session:
            greeting = asyncio.create_task(session.initialize())
            greeting.add_done_callback(_heard)
            ended = asyncio.create_task(self._ending.wait())
            try:
                await asyncio.wait([greeting, ended], return_when=asyncio.FIRST_COMPLETED)
                if greeting.done():
                    self._options = {"headers": {MCP_PROTOCOL_VERSION_HEADER: greeting.result().protocol_version}}
                    self._greeted = True
                    ready.set_result(None)
                    await ended
            finally:
                greeting.cancel()
                ended.cancel()

    def _cannot_start(self) -> Exception:
        return mcp_error(
            NO_ANSWER, f"MCP server '{self._server.name}' cannot be started: {self._reason}{self._last_words()}"
        )

    def _last_words(self) -> str:
        lines = self._stderr.lines
        return f"; it wrote: {lines[-1]}" if lines else ""

    def _end(self) -> None:
        self._ending.set()
        self._stderr.close()
        self._reason = self._reason or "it closed the connection"
        if self._greeted and not self._closing:
            self._reason += self._last_words()
            self._on_end(self._reason)

    async def _count_garbage(self, error: Exception) -> None:
        self.garbage = _described(error)
        self._garbage_lines += 1
        if self._garbage_lines == GARBAGE_LIMIT:
            self._reason = f"it wrote {self._garbage_lines} lines that are not JSON-RPC"
            self._ending.set()

    def _transport(self) -> AbstractAsyncContextManager[tuple[Any, Any]]:
        return self._stdio() if self._server.transport == "stdio" else self._http()

    @asynccontextmanager
    async def _stdio(self) -> AsyncGenerator[tuple[Any, Any], None]:
        server = StdioServerParameters(
            command=self._server.command,
            args=list(self._server.args),
            env=dict(self._server.env),
            encoding_error_handler="replace",
        )
        with await self._stderr.open() as errors:
            async with stdio_client(server, errors) as streams:
                errors.close()
                yield streams

    @asynccontextmanager
    async def _http(self) -> AsyncGenerator[tuple[Any, Any], None]:
        # No read timeout: callers wait with timeouts of their own.
        patience = httpx2.Timeout(_HTTP_CONNECT_SECONDS, read=None)
        async with (
            httpx2.AsyncClient(headers=self._server.headers, timeout=patience) as client,
            streamable_http_client(self._server.url, http_client=client) as streams,
        ):
            yield streams


class _Dispatcher(JSONRPCDispatcher[TransportContext]):
    """Calls `on_end` when it stops listening."""

    on_end: Callable[[], None] | None = None

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        try:
            await super().run(on_request, on_notify, on_notify_intercept, task_status=task_status)
        finally:
            if self.on_end is not None:
                self.on_end()


def _heard(task: "asyncio.Task[Any]") -> None:
    """Retrieve a task's exception, so that it is not reported as never retrieved."""
    if not task.cancelled():
        task.exception()


def _described(error: BaseException) -> str:
    """The first cause, in one line."""
    if isinstance(error, BaseExceptionGroup):
        return _described(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:200]
