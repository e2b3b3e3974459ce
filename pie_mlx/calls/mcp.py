"""Tools, resources and prompts of MCP servers."""

from pie_mlx.calls.base import Call


class ListMcpServers(Call[list[str]], frozen=True):
    """Names of the servers that the caller can use: those of its client and those of the engine."""


class ConnectMcp(Call[None], frozen=True):
    """Check that there is a server of that name. Raises McpError (-1)."""

    server: str


class CallMcp(Call[str], frozen=True):
    """One JSON-RPC request to a server; `params` and the reply, the `result` of the response, are JSON text.

    Raises McpError: the server's error, -1 for an unknown server, -32602 for params that are no JSON object,
    -32000 without an answer.
    """

    server: str
    method: str
    params: str = "{}"
