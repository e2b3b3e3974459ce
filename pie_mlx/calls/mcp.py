"""Tools, resources and prompts of MCP servers."""

from pie_mlx.calls.base import Call


class ListMcpServers(Call[list[str]], frozen=True):
    """Names of the servers the caller can use: those its client registered and those of the engine."""


class ConnectMcp(Call[None], frozen=True):
    """Look whether there is a server of that name. Raises McpError (-1)."""

    server: str


class CallMcp(Call[str], frozen=True):
    """One JSON-RPC request to a server; `params` and the answer, the `result` of the response, are JSON text.

    Raises McpError: what the server answered, -1 for an unknown server, -32602 for params that are no JSON object,
    -32000 when there is no answer.
    """

    server: str
    method: str
    params: str = "{}"
