"""The engine's clients: one port for the websocket and HTTP, and a Unix socket."""

from pie_mlx.server.server import Server
from pie_mlx.server.settings import ServerSettings

__all__ = ["Server", "ServerSettings"]
