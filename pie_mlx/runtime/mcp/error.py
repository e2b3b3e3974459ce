"""Makes the errors of MCP."""

import json

from pie_mlx.errors import McpError

UNKNOWN_SERVER = -1
NO_ANSWER = -32000
INVALID_PARAMS = -32602

_HINTS = {NO_ANSWER: "see 'pie top' or the log of the server", INVALID_PARAMS: "pass what list_tools describes"}


def mcp_error(rpc_code: int, message: str, data: object = None) -> McpError:
    """The error raised in a program. `data` is a JSON value; None means no data."""
    text = "" if data is None else json.dumps(data, ensure_ascii=False, default=str)
    return McpError(message, hint=_HINTS.get(rpc_code, "see the message of the server"), rpc_code=rpc_code, data=text)


def not_registered(server: str, known: list[str]) -> McpError:
    """The error for an unknown server."""
    return McpError(
        f"MCP server '{server}' not registered",
        hint=f"registered servers: {', '.join(known) or 'none'}",
        rpc_code=UNKNOWN_SERVER,
        data="",
    )
