"""Connects to the destinations of programs, if they are allowed."""

import asyncio
import ipaddress
import socket
from collections.abc import Collection, Sequence

from pie_mlx.runtime.network.allowed_hosts import AllowedHosts
from pie_mlx.runtime.network.public_addresses import Address, effective, is_public
from pie_mlx.runtime.network.rejection import Rejection, forbidden
from pie_mlx.runtime.network.settings import Resolve

CONNECT_SECONDS = 30.0
"""Timeout for resolving a name, and for connecting to each of its addresses."""
_OWN_PORT = "the port belongs to the engine and is never reachable"

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class EgressConnector:
    """Checks every destination. `closed_ports` of this machine stay closed whatever `hosts` allows."""

    def __init__(self, hosts: AllowedHosts, closed_ports: Collection[int], resolve: Resolve) -> None:
        self._hosts = hosts
        self._closed_ports = closed_ports
        self._resolve = resolve

    async def connect(self, host: str, port: int) -> Connection | Rejection:
        """Connect to `host`, a name or an address.

        A name is resolved once, and only the checked addresses are used: a second lookup could answer differently.
        """
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                addresses = await self._addresses(host, port)
        except (OSError, UnicodeError, TimeoutError) as error:
            return Rejection(502, f"{host}: cannot resolve it: {_said(error)}")
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
    """Whether an address is one of this machine's own."""
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
    """Whether `host` is itself `localhost` or an address that is not public, which `*` does not allow.

    A name that resolves to such an address does not count: its owner may be attacking.
    """
    try:
        return not is_public(effective(ipaddress.ip_address(host)))
    except ValueError:
        return host.lower().rstrip(".") == "localhost"


async def _first(addresses: Sequence[Address], host: str, port: int) -> Connection | Rejection:
    """Connect to the first address that answers."""
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
