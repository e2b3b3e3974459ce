"""Accepted connections that have said nothing yet."""

import asyncio
import contextlib
import socket
from collections.abc import Callable


class Unheard:
    """Keeps no more than a socket of each: who opens many and says nothing takes little of the loop.

    `heard` gets a connection, which it then owns, once its first byte is there; one that ends before is closed. Belongs
    to one loop.
    """

    def __init__(self, heard: Callable[[socket.socket], None]) -> None:
        self._heard = heard
        self._since: dict[socket.socket, float] = {}
        """When each was accepted, in seconds of the caller's clock; oldest first."""

    def __len__(self) -> int:
        return len(self._since)

    def add(self, connection: socket.socket, now: float) -> None:
        """Wait for the first byte of a connection; on a busy loop it is there already."""
        connection.setblocking(False)
        self._since[connection] = now
        self._readable(connection)
        if connection in self._since:
            asyncio.get_running_loop().add_reader(connection, self._readable, connection)

    def oldest(self, until: float) -> list[socket.socket]:
        """The connections accepted up to then, oldest first."""
        return [connection for connection, since in self._since.items() if since <= until]

    def hang_up(self, connection: socket.socket) -> None:
        """Close a connection that is still unheard."""
        self._forget(connection)
        connection.close()

    def close(self) -> None:
        """Close all. Idempotent."""
        for connection in list(self._since):
            self.hang_up(connection)

    def _readable(self, connection: socket.socket) -> None:
        first = b""
        with contextlib.suppress(OSError):
            try:
                first = connection.recv(1, socket.MSG_PEEK)
            except (BlockingIOError, InterruptedError):
                return
        if first:
            self._forget(connection)
            self._heard(connection)
        else:
            self.hang_up(connection)

    def _forget(self, connection: socket.socket) -> None:
        asyncio.get_running_loop().remove_reader(connection)
        del self._since[connection]
