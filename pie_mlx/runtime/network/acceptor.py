"""Accepts connections at a listening socket."""

import asyncio
import socket
from collections.abc import Callable

RETRY_SECONDS = 0.1
"""Pause after running out of file descriptors."""
AT_ONCE = 64
"""Connections accepted in one turn of the loop."""


class Acceptor:
    """Passes each connection to `accepted`. Owns the socket. Belongs to one loop."""

    def __init__(self, listener: socket.socket, accepted: Callable[[socket.socket], None]) -> None:
        self._listener = listener
        self._accepted = accepted
        self._wanted = False
        listener.setblocking(False)

    def start(self) -> None:
        """Start accepting. Idempotent; no effect once closed."""
        if not self._wanted:
            self._wanted = True
            self._watch()

    def pause(self) -> None:
        """Leave connections in the backlog until `start`. Idempotent."""
        if self._wanted and self._listener.fileno() >= 0:
            asyncio.get_running_loop().remove_reader(self._listener)
        self._wanted = False

    def close(self) -> None:
        """Stop accepting and close the socket. Idempotent."""
        self.pause()
        self._listener.close()

    def _watch(self) -> None:
        if self._wanted and self._listener.fileno() >= 0:
            asyncio.get_running_loop().add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        for _ in range(AT_ONCE):
            if not self._wanted:
                return
            try:
                connection, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:
                loop = asyncio.get_running_loop()
                loop.remove_reader(self._listener)
                loop.call_later(RETRY_SECONDS, self._watch)
                return
            self._accepted(connection)
