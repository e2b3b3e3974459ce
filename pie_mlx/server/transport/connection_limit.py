"""Limits the connections at one listening socket, and closes overdue ones."""

import asyncio
import ipaddress
import resource
import socket
import time
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from pie_mlx.runtime.network.acceptor import Acceptor
from pie_mlx.runtime.network.public_addresses import effective
from pie_mlx.server.transport.unheard import Unheard

PLACES = 1024
"""Served connections. Half as many more get a refusal."""
UNHEARD_SECONDS, SILENT_SECONDS = 10.0, 1.0
"""Until a connection that has said nothing is closed; until one without new bytes may be, to make room."""


class LimitedConnection(Protocol):
    """A connection, until it is lost or becomes a websocket."""

    def is_overdue(self, now: float) -> bool:
        """Whether the other end has exceeded a timeout."""
        ...

    def is_silent(self, now: float) -> bool:
        """Whether it may be closed to make room: no request is in progress or arriving."""
        ...

    def hang_up(self) -> None: ...


class ConnectionLimit:
    """Accepts at `listener`, which it owns, while there is room; `make` makes the protocol of each connection.

    With its first byte a connection gets a place, or a spare one, where it gets a refusal. When few places are left,
    silent connections are closed. When no spare place is left, new connections wait in the backlog.
    """

    def __init__(
        self,
        listener: socket.socket,
        make: Callable[["ConnectionLimit"], asyncio.BaseProtocol],
        places: int = PLACES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._acceptor = Acceptor(listener, self._accepted)
        self._make, self._clock = make, clock
        self._places = min(places, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4)
        self._unheard = Unheard(self._heard)
        self._arriving: set[asyncio.Task[None]] = set()
        self._connections: dict[LimitedConnection, str] = {}
        self._placed: dict[LimitedConnection, None] = {}
        self._placed_of: Counter[str] = Counter()

    def open(self) -> None:
        self._acceptor.start()

    def close(self) -> None:
        """Stop accepting; open connections stay. Idempotent."""
        self._acceptor.close()
        self._unheard.close()
        for task in self._arriving:
            task.cancel()

    def enter(self, connection: LimitedConnection, address: str) -> bool:
        """Register a connection; returns whether it gets a place at once."""
        self._connections[connection] = neighbourhood(address)
        self._adjust()
        return self.place(connection)

    def place(self, connection: LimitedConnection) -> bool:
        """Give a connection a place if possible; returns whether it has one. A remote machine gets at most half."""
        if connection in self._placed:
            return True
        source = self._connections[connection]
        crowded = bool(source) and self._placed_of[source] >= self._places // 2
        if crowded or len(self._placed) >= self._places:
            return False
        self._placed[connection] = None
        self._placed_of[source] += 1
        return True

    def leave(self, connection: LimitedConnection) -> None:
        """Idempotent."""
        source = self._connections.pop(connection, None)
        if source is None:
            return
        if connection in self._placed:
            del self._placed[connection]
            self._placed_of[source] -= 1
            self._placed_of += Counter()  # drops zero counts
        self._adjust()

    def sweep(self) -> None:
        """Close overdue and excess silent connections. Called periodically, after reading."""
        now = self._clock()
        for connection in [connection for connection in self._connections if connection.is_overdue(now)]:
            connection.hang_up()
        for unheard in self._unheard.oldest(now - UNHEARD_SECONDS):
            self._unheard.hang_up(unheard)
        excess = self._present - self._places * 7 // 8
        if excess > 0:
            quiet = self._unheard.oldest(now - SILENT_SECONDS)[:excess]
            for unheard in quiet:
                self._unheard.hang_up(unheard)
            silent = [connection for connection in self._connections if connection.is_silent(now)]
            for connection in silent[: excess - len(quiet)]:
                connection.hang_up()
        self._adjust()

    @property
    def _present(self) -> int:
        return len(self._connections) + len(self._unheard)

    def _accepted(self, connection: socket.socket) -> None:
        self._unheard.add(connection, self._clock())
        self._adjust()

    def _heard(self, connection: socket.socket) -> None:
        task = asyncio.get_running_loop().create_task(self._receive(connection))
        self._arriving.add(task)
        task.add_done_callback(lambda task: self._arrived(task, connection))

    async def _receive(self, connection: socket.socket) -> None:
        await asyncio.get_running_loop().connect_accepted_socket(lambda: self._make(self), connection)

    def _arrived(self, task: "asyncio.Task[None]", connection: socket.socket) -> None:
        self._arriving.discard(task)
        if task.cancelled() or task.exception() is not None:
            connection.close()
        self._adjust()

    def _adjust(self) -> None:
        if self._present + len(self._arriving) >= self._places * 3 // 2:
            self._acceptor.pause()
        else:
            self._acceptor.start()


@lru_cache(PLACES)
def neighbourhood(address: str) -> str:
    """A key that is equal for addresses of one machine; "" for this one, where tunnels end. IPv6 uses a prefix."""
    if not address:
        return ""
    meant = effective(ipaddress.ip_address(address))
    if meant.is_loopback:
        return ""
    return str(meant if meant.version == 4 else ipaddress.ip_network((meant, 64), strict=False))
