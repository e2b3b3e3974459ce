"""MCP servers that run beside the client, for programs on the engine."""

import asyncio
import contextlib
import itertools
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from pie_mlx.errors import McpError

PROTOCOL_VERSION = "2024-11-05"
LINE_LIMIT_BYTES = 1 << 28
UNREACHABLE = -32000
_ENDING_SECONDS = 1.0


@dataclass(slots=True, eq=False)
class StdioServer:
    """A child process that speaks JSON-RPC, one message per line."""

    name: str
    child: asyncio.subprocess.Process
    _pending: "dict[int, asyncio.Future[Any]]" = field(default_factory=dict[int, "asyncio.Future[Any]"])
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    _reader: "asyncio.Task[None] | None" = None

    @staticmethod
    async def start(name: str, command: str, args: list[str], env: Mapping[str, str]) -> "StdioServer":
        """Start the child and initialise the session. Raises McpError."""
        try:
            child = await asyncio.create_subprocess_exec(
                command,
                *args,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env={**os.environ, **env},
                limit=LINE_LIMIT_BYTES,
            )
        except OSError as error:
            raise failure(UNREACHABLE, f"MCP server '{name}': {command}: {error.strerror}") from None
        server = StdioServer(name, child)
        server._reader = asyncio.create_task(server._read())
        try:
            await server._initialise()
        except BaseException:
            await server.close()
            raise
        return server

    async def request(self, method: str, params: Any) -> Any:
        """The `result` of a request. Raises McpError."""
        number = next(self._numbers)
        answer = self._pending[number] = asyncio.get_running_loop().create_future()
        try:
            await self._write({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            return await answer
        finally:
            self._pending.pop(number, None)

    async def close(self) -> None:
        """Close its input, then terminate it, then kill it."""
        if self.child.stdin is not None:
            self.child.stdin.close()
        for end in (self.child.terminate, self.child.kill):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.child.wait(), _ENDING_SECONDS)
                break
            with contextlib.suppress(ProcessLookupError):
                end()
        await self.child.wait()
        if self._reader is not None:
            await asyncio.gather(self._reader, return_exceptions=True)

    async def _initialise(self) -> None:
        client = {"name": "pie-mlx", "version": "1"}
        hello = {"protocolVersion": PROTOCOL_VERSION, "capabilities": {}, "clientInfo": client}
        await self.request("initialize", hello)
        await self._write({"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}})

    async def _write(self, message: dict[str, Any]) -> None:
        if self.child.stdin is None or self._reader is None or self._reader.done():
            raise failure(UNREACHABLE, f"MCP server '{self.name}' is no longer running")
        try:
            self.child.stdin.write(json.dumps(message).encode() + b"\n")
            await self.child.stdin.drain()
        except (OSError, RuntimeError):
            raise failure(UNREACHABLE, f"MCP server '{self.name}' is no longer running") from None

    async def _read(self) -> None:
        try:
            if self.child.stdout is not None:
                async for line in self.child.stdout:
                    self._on_line(line)
        finally:
            for answer in self._pending.values():
                if not answer.done():
                    answer.set_exception(failure(UNREACHABLE, f"MCP server '{self.name}' died before response"))

    def _on_line(self, line: bytes) -> None:
        """Resolve the request of a response; ignore all other lines."""
        try:
            message = json.loads(line)
        except ValueError:
            return
        if not isinstance(message, dict):
            return
        response = cast("dict[str, Any]", message)
        answer = self._pending.get(response.get("id", -1))
        if answer is None or answer.done():
            return
        if "error" in response:
            answer.set_exception(_rpc_failure(response["error"]))
        else:
            answer.set_result(response.get("result"))


def failure(code: int, message: str, data: Any = None) -> McpError:
    """An McpError with the `rpc_code` and `data` (JSON text) of a JSON-RPC error."""
    return McpError(message, rpc_code=code, data="" if data is None else json.dumps(data))


def error_json(error: McpError) -> str:
    """A JSON-RPC error object as text."""
    data = str(error.details.get("data") or "")
    described = {"code": error.details.get("rpc_code", UNREACHABLE), "message": error.message}
    return json.dumps({**described, "data": json.loads(data)} if data else described)


def _rpc_failure(error: Any) -> McpError:
    if not isinstance(error, dict):
        return failure(UNREACHABLE, str(error))
    found = cast("dict[str, Any]", error)
    return failure(int(found.get("code", UNREACHABLE)), str(found.get("message", "MCP error")), found.get("data"))
