"""The TCP port, and uvicorn's server without its signal handling and accepting."""

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import Generator

import uvicorn

from pie_mlx.errors import ConfigError
from pie_mlx.server.transport.connection_limit import PLACES, ConnectionLimit
from pie_mlx.server.transport.http_protocol import HttpProtocol

_ANSWER_SECONDS = 0.5


def bind_tcp(host: str, port: int) -> socket.socket:
    """A bound socket that does not listen yet, so that a conflict is found before loading a model.

    Raises ConfigError.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ConfigError(f"cannot listen on {host}: {error.strerror}", hint="set [server] host") from None
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        if port and _answers(host, port):
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise _refused(host, port, error) from None
    return bound


def _answers(host: str, port: int) -> bool:
    """Whether a program listens there: macOS lets a specific address take over from a wildcard one."""
    try:
        socket.create_connection((_EVERYWHERE.get(host, host), port), timeout=_ANSWER_SECONDS).close()
    except OSError:
        return False
    return True


def listen(bound: socket.socket, host: str, port: int, backlog: int = 4096) -> None:
    """Raises ConfigError if another program now listens there. macOS limits `backlog` to 128."""
    try:
        bound.listen(backlog)
    except OSError as error:
        raise _refused(host, port, error) from None


_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Wildcard addresses, each with one to connect to."""


def websocket_url(bound: socket.socket) -> str:
    """The URL for clients on this machine."""
    host, port = bound.getsockname()[:2]
    host = _EVERYWHERE.get(str(host), str(host))
    return f"ws://[{host}]:{port}" if ":" in host else f"ws://{host}:{port}"


def _refused(host: str, port: int, error: OSError) -> ConfigError:
    if error.errno == errno.EADDRINUSE:
        return ConfigError(
            f"port {port} on {host} is in use: another program or engine listens there",
            hint="stop it, or choose another port with --port (0: any free port)",
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return ConfigError(f"port {port} on {host}: not permitted", hint="choose a port above 1023 with --port")
    return ConfigError(f"cannot listen on {host}:{port}: {error.strerror}", hint="set [server] host and port")


class Listener(uvicorn.Server):
    """uvicorn's server, with `places` connections per socket. The command line handles signals."""

    def __init__(self, config: uvicorn.Config, places: int = PLACES) -> None:
        super().__init__(config)
        self.servers = []
        self.has_started = asyncio.Event()
        self._places = places
        self._limits: list[ConnectionLimit] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._limits = [ConnectionLimit(bound, self._protocol, self._places) for bound in sockets or ()]
        for room in self._limits:
            room.open()
        self.started = True
        self.has_started.set()

    async def on_tick(self, counter: int) -> bool:
        for room in self._limits:
            room.sweep()
        return await super().on_tick(counter)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    def refuse_more(self) -> None:
        """Stop listening; open connections stay."""
        for room in self._limits:
            room.close()

    def _protocol(self, room: ConnectionLimit) -> asyncio.BaseProtocol:
        return HttpProtocol(
            room=room, config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
