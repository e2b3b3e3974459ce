"""Tools, resources and prompts of MCP servers: those the client registered and those of the engine."""

from typing import Any, Self

import msgspec

from inferlet._calls.checks import checked_text
from inferlet._calls.host import HostLink, current_host
from inferlet._calls.payload import json_text
from pie_mlx.calls import CallMcp, ConnectMcp, ListMcpServers
from pie_mlx.errors import InvalidTypeError, McpError

__all__ = ["McpSession", "available_servers", "connect"]

_INVALID_PARAMS = -32602
_CLOSED = -32000


def available_servers() -> list[str]:
    """Names of the available servers."""
    return current_host().call(ListMcpServers())


def connect(server_name: str) -> "McpSession":
    """A session with a server. Raises McpError with `rpc_code` -1 for a name that is not registered."""
    host = current_host()
    host.call(ConnectMcp(checked_text(server_name, "MCP server")))
    return McpSession(host, server_name)


class McpSession:
    """A server as a program uses it. Each method returns the `result` of the response as JSON text, unparsed.

    Arguments are a dict or JSON text of an object. The methods block this program, not the engine; `request` does not.
    All raise McpError: `rpc_code`, the message and `data` (JSON text or "") are those of the server's error; -32602
    stands for arguments that are not a JSON object, -32000 for no answer.
    """

    def __init__(self, host: HostLink, name: str) -> None:
        self.name = name
        self._host = host
        self._closed = False

    def list_tools(self) -> str:
        """`{"tools": [...]}`"""
        return self._call("tools/list", "{}")

    def call_tool(self, name: str, args: dict[str, Any] | str | None = None) -> str:
        """Call a tool. Whether the tool failed is in `isError` of the result."""
        return self._call("tools/call", _named(name, args))

    def list_resources(self) -> str:
        """`{"resources": [...]}`"""
        return self._call("resources/list", "{}")

    def read_resource(self, uri: str) -> str:
        """`{"contents": [...]}`"""
        return self._call("resources/read", json_text("MCP uri", {"uri": checked_text(uri, "MCP uri")}))

    def list_prompts(self) -> str:
        """`{"prompts": [...]}`"""
        return self._call("prompts/list", "{}")

    def get_prompt(self, name: str, args: dict[str, Any] | str | None = None) -> str:
        """`{"messages": [...]}`"""
        return self._call("prompts/get", _named(name, args))

    async def request(self, method: str, params: dict[str, Any] | str | None = None) -> str:
        """Any of these by its JSON-RPC method (`tools/call`), while other tasks of this program run."""
        self._check_open()
        return await self._host.submit(CallMcp(self.name, checked_text(method, "MCP method"), _object(params).decode()))

    def close(self) -> None:
        """Later calls raise McpError. The server keeps running, because others may use it."""
        self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _call(self, method: str, params: str) -> str:
        self._check_open()
        return self._host.call(CallMcp(self.name, method, params))

    def _check_open(self) -> None:
        if self._closed:
            raise McpError(
                f"MCP session with '{self.name}': it was closed", hint="connect again", rpc_code=_CLOSED, data=""
            )


def _named(name: str, args: dict[str, Any] | str | None) -> str:
    """The params of a call by name, the arguments as they were written."""
    params = {"name": checked_text(name, "MCP name"), "arguments": msgspec.Raw(_object(args))}
    return msgspec.json.encode(params).decode()


def _object(args: dict[str, Any] | str | None) -> bytes:
    """The bytes of a JSON object. Raises McpError (-32602)."""
    try:
        text = args if isinstance(args, str) else json_text("MCP arguments", {} if args is None else args)
        encoded = text.encode()
        fits = isinstance(msgspec.json.decode(encoded), dict)
    except (InvalidTypeError, UnicodeEncodeError, msgspec.DecodeError, RecursionError) as error:
        raise _refused(str(error)) from error
    if not fits:
        raise _refused("they are not a JSON object")
    return encoded


def _refused(why: str) -> McpError:
    return McpError(
        f"MCP arguments: {why}",
        hint='pass a dict or an object such as {"city": "Oslo"}',
        rpc_code=_INVALID_PARAMS,
        data="",
    )
