"""MCP servers, as programs use them."""

import msgspec

from pie_mlx import calls
from pie_mlx.engine.handlers.base import answers_alone
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.errors import McpError

METHODS = ("prompts/get", "prompts/list", "resources/list", "resources/read", "tools/call", "tools/list")
PARAMS_LIMIT_BYTES = 1_000_000
"""The longest params; those relayed to a client travel in one bounded frame."""

_UNKNOWN_SERVER = -1
_UNKNOWN_METHOD = -32601
_INVALID_PARAMS = -32602


@answers_alone(calls.ListMcpServers)
async def list_servers(process: HostedProcess, call: calls.ListMcpServers) -> list[str]:
    del call
    return await process.outside.mcp.servers()


@answers_alone(calls.ConnectMcp)
async def connect(process: HostedProcess, call: calls.ConnectMcp) -> None:
    known = await process.outside.mcp.servers()
    if call.server not in known:
        raise McpError(
            f"MCP server '{call.server}' not registered",
            hint=f"servers there are: {', '.join(known) or 'none'}",
            rpc_code=_UNKNOWN_SERVER,
            data="",
        )


@answers_alone(calls.CallMcp)
async def call_server(process: HostedProcess, call: calls.CallMcp) -> str:
    if call.method not in METHODS:
        raise McpError(
            f"MCP method '{call.method}' is not offered to programs",
            hint=f"use one of {', '.join(METHODS)}",
            rpc_code=_UNKNOWN_METHOD,
            data="",
        )
    _check_params(call.params)
    return await process.outside.mcp.request(call.server, call.method, call.params)


def _check_params(params: str) -> None:
    try:
        size_bytes = len(params.encode())
        if size_bytes > PARAMS_LIMIT_BYTES:
            raise _invalid(f"the params are {size_bytes} bytes, the limit is {PARAMS_LIMIT_BYTES}")
        msgspec.json.decode(params, type=dict[str, msgspec.Raw])  # a look at it all that makes nothing of it
    except msgspec.ValidationError:
        raise _invalid("the params are not a JSON object") from None
    except (UnicodeEncodeError, msgspec.DecodeError, RecursionError) as error:
        raise _invalid(f"the params are not JSON: {error}") from None


def _invalid(why: str) -> McpError:
    return McpError(f"MCP call: {why}", hint="pass an object of JSON values", rpc_code=_INVALID_PARAMS, data="")
