"""The connections at one listening socket: how many there may be, and which have to go."""

import asyncio
import ipaddress
import resource
import socket
import time
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from pie_mlx.runtime.network.acceptor import Acceptor
from pie_mlx.runtime.network.public_addresses import effective

PLACES = 1024
"""Connections that are served. Half as many more are told to come again."""


class LimitedConnection(Protocol):
    """A connection, from its arrival until it is lost or becomes a websocket."""

    def is_overdue(self, now: float) -> bool:
        """Whether the other end has used up its time."""
        ...

    def is_silent(self, now: float) -> bool:
        """Whether it may have to make room for others: no request is under way, and none is coming."""
        ...

    def hang_up(self) -> None: ...


class ConnectionLimit:
    """Accepts at `listener`, which it owns, as long as there is room; `make` makes the protocol of each connection.

    A connection has a place, or only one of the spare ones, where it is told that there are too many. When few places
    are left, connections that are silent go. When no spare one is left, new ones wait in the backlog.
    """

    def __init__(
        self, listener: socket.socket, make: Callable[["ConnectionLimit"], asyncio.BaseProtocol], places: int = PLACES
    ) -> None:
        self._acceptor = Acceptor(listener, self._accepted)
        self._make = make
        self._places = min(places, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4)
        self._arriving: set[asyncio.Task[None]] = set()
        self._guests: dict[LimitedConnection, str] = {}
        self._placed: dict[LimitedConnection, None] = {}
        self._placed_of: Counter[str] = Counter()

    def open(self) -> None:
        self._acceptor.start()

    def close(self) -> None:
        """Accept nothing more; who is here stays. Idempotent."""
        self._acceptor.close()
        for task in self._arriving:
            task.cancel()

    def enter(self, guest: LimitedConnection, address: str) -> bool:
        """Whether `guest`, who comes from `address`, gets a place at once."""
        self._guests[guest] = neighbourhood(address)
        self._adjust()
        return self.place(guest)

    def place(self, guest: LimitedConnection) -> bool:
        """Whether there is a place for `guest` by now. One machine gets half of them, this one any number."""
        if guest in self._placed:
            return True
        source = self._guests[guest]
        crowded = bool(source) and self._placed_of[source] >= self._places // 2
        if crowded or len(self._placed) >= self._places:
            return False
        self._placed[guest] = None
        self._placed_of[source] += 1
        return True

    def leave(self, guest: LimitedConnection) -> None:
        """Idempotent."""
        source = self._guests.pop(guest, None)
        if source is None:
            return
        if guest in self._placed:
            del self._placed[guest]
            self._placed_of[source] -= 1
            self._placed_of += Counter()  # forgets those that have none
        self._adjust()

    def sweep(self) -> None:
        """Called every now and then, when all that has come is read."""
        now = time.monotonic()
        for guest in [guest for guest in self._guests if guest.is_overdue(now)]:
            guest.hang_up()
        excess = len(self._guests) - self._places * 7 // 8
        if excess > 0:
            for guest in [guest for guest in self._guests if guest.is_silent(now)][:excess]:
                guest.hang_up()

    def _accepted(self, connection: socket.socket) -> None:
        task = asyncio.get_running_loop().create_task(self._receive(connection))
        self._arriving.add(task)
        task.add_done_callback(lambda task: self._arrived(task, connection))
        self._adjust()

    async def _receive(self, connection: socket.socket) -> None:
        await asyncio.get_running_loop().connect_accepted_socket(lambda: self._make(self), connection)

    def _arrived(self, task: "asyncio.Task[None]", connection: socket.socket) -> None:
        self._arriving.discard(task)
        if task.cancelled() or task.exception() is not None:
            connection.close()
        self._adjust()

    def _adjust(self) -> None:
        if len(self._guests) + len(self._arriving) >= self._places * 3 // 2:
            self._acceptor.pause()
        else:
            self._acceptor.start()


def neighbourhood(address: str) -> str:
    """What counts as one machine; "" for this one, where tunnels end. With IPv6 one has a network of addresses."""
    if not address:
        return ""
    meant = effective(ipaddress.ip_address(address))
    if meant.is_loopback:
        return ""
    return str(meant if meant.version == 4 else ipaddress.ip_network((meant, 64), strict=False))
