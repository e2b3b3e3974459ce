"""Serves one engine to clients: websocket and HTTP on one port, and a Unix socket."""

from pie_mlx.server.server import Server
from pie_mlx.server.settings import ServerSettings

__all__ = ["Server", "ServerSettings"]
