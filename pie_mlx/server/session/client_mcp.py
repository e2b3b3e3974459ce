"""MCP servers of a client: the announced servers, and pending requests to them."""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from pie_mlx.documents import json_struct
from pie_mlx.errors import InvalidArgumentError, McpError
from pie_mlx.runtime.mcp.error import INVALID_PARAMS, NO_ANSWER, mcp_error, not_registered
from pie_mlx.server.frames import mcp_request

SERVERS_LIMIT = 32
NAME_LIMIT = 128


class _Failure(msgspec.Struct):
    code: int
    message: str
    data: object = None


@dataclass(frozen=True, slots=True)
class Announced:
    """An announced server. `command` and `url` only inform: the engine never uses them."""

    name: str
    transport: str
    command: str | None
    args: tuple[str, ...]
    url: str | None


@dataclass(slots=True)
class ClientServers:
    """The MCP servers of one connection; `send` sends its frames."""

    send: Callable[[bytes], None]
    timeout_seconds: float
    announced: dict[str, Announced] = field(default_factory=dict[str, Announced])
    _pending: dict[int, "asyncio.Future[str]"] = field(default_factory=dict[int, "asyncio.Future[str]"])
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    _closed: bool = False

    def announce(self, server: Announced) -> None:
        """Register a server; replaces one of the same name. Raises InvalidArgumentError."""
        if not 1 <= len(server.name) <= NAME_LIMIT:
            raise InvalidArgumentError(f"MCP server name: 1 to {NAME_LIMIT} characters", hint="choose another name")
        if server.name not in self.announced and len(self.announced) >= SERVERS_LIMIT:
            raise InvalidArgumentError(
                f"MCP server '{server.name}': {SERVERS_LIMIT} are registered, which is the limit",
                hint="use another connection",
            )
        self.announced[server.name] = server

    async def request(self, process_id: str, server: str, method: str, params_json: str) -> str:
        """The result as JSON text. Raises McpError with `rpc_code` and, if given, the server's `data`."""
        if server not in self.announced:
            raise not_registered(server, list(self.announced))
        _check_json(params_json)
        if self._closed:
            raise mcp_error(NO_ANSWER, f"MCP server '{server}': its client is gone")
        number = next(self._numbers) & 0xFFFF_FFFF
        answer = self._pending[number] = asyncio.get_running_loop().create_future()
        try:
            self.send(mcp_request(number, process_id, server, method, params_json))
            async with asyncio.timeout(self.timeout_seconds):
                return await answer
        except TimeoutError:
            raise mcp_error(NO_ANSWER, f"MCP server '{server}': no answer within {self.timeout_seconds:g} s") from None
        finally:
            self._pending.pop(number, None)

    def answered(self, number: int, ok: bool, result: str) -> None:
        """Handle an answer of the client; ignored if no request waits for it."""
        answer = self._pending.get(number)
        if answer is None or answer.done():
            return
        if ok:
            answer.set_result(result)
        else:
            answer.set_exception(_failure(result))

    def close(self) -> None:
        """The connection is closed: fail pending requests."""
        self._closed = True
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(mcp_error(NO_ANSWER, "MCP: the client has disconnected"))


def _failure(result: str) -> McpError:
    try:
        failure = json_struct(result, _Failure)
    except InvalidArgumentError:
        return mcp_error(NO_ANSWER, result)
    return mcp_error(failure.code, failure.message, failure.data)


def _check_json(text: str) -> None:
    try:
        json_struct(text, msgspec.Raw)  # validates without decoding
    except InvalidArgumentError as error:
        raise mcp_error(INVALID_PARAMS, f"arguments are not JSON: {error}") from None
