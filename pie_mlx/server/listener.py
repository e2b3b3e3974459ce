"""uvicorn's server, as a part of one that has its own command line and its own way to accept connections."""

import asyncio
import contextlib
import socket
from collections.abc import Generator

import uvicorn

from pie_mlx.server.protocol import HttpProtocol
from pie_mlx.server.room import PLACES, Room


class Listener(uvicorn.Server):
    """Signals belong to the command line. Each socket has so many `places`."""

    def __init__(self, config: uvicorn.Config, places: int = PLACES) -> None:
        super().__init__(config)
        self.servers = []
        self.has_started = asyncio.Event()
        self._places = places
        self._rooms: list[Room] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._rooms = [Room(bound, self._protocol, self._places) for bound in sockets or ()]
        for room in self._rooms:
            room.open()
        self.started = True
        self.has_started.set()

    async def on_tick(self, counter: int) -> bool:
        for room in self._rooms:
            room.sweep()
        return await super().on_tick(counter)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    def refuse_more(self) -> None:
        """Listen no more; connections stay."""
        for room in self._rooms:
            room.close()

    def _protocol(self, room: Room) -> asyncio.BaseProtocol:
        return HttpProtocol(
            room=room, config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
