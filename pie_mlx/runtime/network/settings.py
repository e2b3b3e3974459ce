"""Settings of the network access of programs."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Resolves a name to addresses, best first, for connecting to a port. Raises OSError if there are none."""


async def system_resolve(name: str, port: int) -> Sequence[str]:
    """Resolve with the system's resolver."""
    found = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """`allowed_hosts` as `[runtime] network_allowed_hosts` has them (protocol 7.3). At most `connections` at once per
    worker."""

    allowed_hosts: tuple[str, ...] = ("*",)
    connections: int = 128
    resolve: Resolve = system_resolve
