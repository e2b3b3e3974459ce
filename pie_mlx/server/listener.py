"""uvicorn's server, as a part of one that has its own command line."""

import asyncio
import contextlib
import socket
from collections.abc import Generator

import uvicorn


class Listener(uvicorn.Server):
    """Signals belong to the command line."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.servers = []
        self.has_started = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.has_started.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    def refuse_more(self) -> None:
        """Listen no more, and close the sockets in the next turn; connections stay.

        Not at once: a connection that has been accepted is attached to its server in the next turn, and left open if
        that is closed by then.
        """
        loop = asyncio.get_running_loop()
        for server in self.servers:
            for listening in server.sockets:
                loop.remove_reader(listening.fileno())
            loop.call_soon(server.close)
