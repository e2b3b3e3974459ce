"""From the name a program gives to a connection, or to the reason why there is none."""

import asyncio
import ipaddress
import socket
from collections.abc import Collection, Sequence

from pie_mlx.runtime.network.allowed_hosts import AllowedHosts
from pie_mlx.runtime.network.public_addresses import Address, effective, is_public
from pie_mlx.runtime.network.rejection import Rejection, forbidden
from pie_mlx.runtime.network.settings import Resolve

CONNECT_SECONDS = 30.0
"""How long finding the addresses of a name, and connecting to each of them, may take."""
_OWN_PORT = "this port is the engine's own, and is never reachable"

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class EgressConnector:
    """Checks every destination. `closed_ports` are ports of this machine that stay closed whatever is allowed."""

    def __init__(self, hosts: AllowedHosts, closed_ports: Collection[int], resolve: Resolve) -> None:
        self._hosts = hosts
        self._closed_ports = closed_ports
        self._resolve = resolve

    async def connect(self, host: str, port: int) -> Connection | Rejection:
        """A connection to `host`, which is a name or an address.

        A name is resolved once, and the addresses that were checked are the ones connected to: a second answer of its
        server could be another one.
        """
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                addresses = await self._addresses(host, port)
        except (OSError, UnicodeError, TimeoutError) as error:
            return Rejection(502, f"{host}: its address cannot be found: {_said(error)}")
        reasons = {address: self._refusal(host, address, port) for address in addresses}
        allowed = [address for address, why in reasons.items() if not why]
        if not allowed:
            why = next(iter(reasons.values()), "it has no address")
            return forbidden(host, port, why, nameable=why != _OWN_PORT and _is_nearby(host))
        return await _first(allowed, host, port)

    async def _addresses(self, host: str, port: int) -> Sequence[Address]:
        try:
            return [ipaddress.ip_address(host)]
        except ValueError:
            return [ipaddress.ip_address(found) for found in await self._resolve(host, port)]

    def _refusal(self, host: str, address: Address, port: int) -> str:
        if port in self._closed_ports and is_here(address):
            return _OWN_PORT
        return self._hosts.refusal(host, address, port)


def is_here(address: Address) -> bool:
    """Whether this machine itself has the address, or answers under it."""
    meant = effective(address)
    if meant.is_loopback or meant.is_unspecified:
        return True
    family = socket.AF_INET if meant.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as attempt:
            attempt.bind((str(meant), 0))
    except OSError:
        return False
    return True


def _is_nearby(host: str) -> bool:
    """Whether what is written is itself of this machine or its network, where `*` allows nothing. A name that only
    stands for such an address is not: its owner may want just that."""
    try:
        return not is_public(effective(ipaddress.ip_address(host)))
    except ValueError:
        return host.lower().rstrip(".") == "localhost"


async def _first(addresses: Sequence[Address], host: str, port: int) -> Connection | Rejection:
    """The first that can be connected to."""
    failure = ""
    for address in addresses:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await asyncio.open_connection(str(address), port)
        except (OSError, TimeoutError) as error:
            failure = _said(error)
    return Rejection(502, f"{host} port {port}: {failure}")


def _said(error: Exception) -> str:
    return "no answer in time" if isinstance(error, TimeoutError) else str(error)
