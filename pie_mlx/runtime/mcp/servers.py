"""All MCP servers of an engine's configuration."""

from collections.abc import Callable, Sequence

from pie_mlx.errors import ConfigError
from pie_mlx.events import Event
from pie_mlx.runtime.execution.loops import LoopThread
from pie_mlx.runtime.mcp.error import not_registered
from pie_mlx.runtime.mcp.server import McpServer, McpServerState
from pie_mlx.runtime.mcp.shared_server import SharedServer

DEFAULT_TIMEOUT_SECONDS = 120.0


class McpServers:
    """Usable from any loop; the servers live on a thread of their own, which begins with the first request.

    `emit` is called on that thread. Raises ConfigError for two servers of one name.
    """

    def __init__(
        self,
        servers: Sequence[McpServer] = (),
        *,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        emit: Callable[[Event], None] = lambda event: None,
    ) -> None:
        self._servers = {
            server.name: SharedServer(server, timeout_seconds=timeout_seconds, emit=emit) for server in servers
        }
        if len(self._servers) < len(servers):
            raise ConfigError("MCP servers: two of them have one name", hint="rename one of the [[mcp]] tables")
        self._thread = LoopThread("pie-mcp")

    @property
    def names(self) -> list[str]:
        """In the order of the configuration."""
        return list(self._servers)

    async def request(self, server: str, method: str, params: str) -> str:
        """The JSON text of the `result`. Raises McpError."""
        found = self._servers.get(server)
        if found is None:
            raise not_registered(server, self.names)
        return await self._thread.run(lambda: found.request(method, params))

    def states(self) -> list[McpServerState]:
        """For the monitor: as they are at about this moment."""
        return [server.state() for server in self._servers.values()]

    async def close(self) -> None:
        """End all of them. Idempotent."""
        await self._thread.close(self._close)

    async def _close(self) -> None:
        for server in self._servers.values():
            await server.close()
