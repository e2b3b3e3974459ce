"""MCP servers that run at a client."""

from typing import Protocol


class McpRelay(Protocol):
    """Carries requests to the servers a client has registered. Called on the loop of the engine's owner.

    `servers` is empty while no client is attached. `request` answers the JSON text of the JSON-RPC `result`, and raises
    McpError for what the server answers instead. It is cancelled when nobody waits for it any more.
    """

    def servers(self) -> list[str]: ...

    async def request(self, server: str, method: str, params_json: str) -> str: ...
