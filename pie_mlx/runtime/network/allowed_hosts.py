"""The hosts and ports that programs may reach (protocol 7.3)."""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pie_mlx.config.rules import host_problems
from pie_mlx.errors import ConfigError
from pie_mlx.runtime.network.public_addresses import Address, effective, is_public

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_EVERY_PORT = range(1, 65536)
_PORTS = re.compile(r"(?P<host>.+):(?P<low>\d{1,5})(?:-(?P<high>\d{1,5}))?")


@dataclass(frozen=True, slots=True)
class _Entry:
    """Either `network` or `name` is set; with `below`, it matches the names under `name`."""

    ports: range
    network: Network | None = None
    name: str = ""
    below: bool = False

    def has_name(self, name: str) -> bool:
        return name.endswith(f".{self.name}") if self.below else bool(self.name) and name == self.name

    def has_address(self, address: Address) -> bool:
        return self.network is not None and address.version == self.network.version and address in self.network


class AllowedHosts:
    """Raises ConfigError for invalid entries."""

    def __init__(self, entries: Sequence[str]) -> None:
        for entry, why in host_problems(entries):
            raise ConfigError(
                f"network_allowed_hosts: {entry!r}: {why}", hint="correct [runtime] network_allowed_hosts"
            )
        self._public = "*" in entries
        self._entries = [_entry(text) for text in entries if text != "*"]

    def refusal(self, name: str, address: Address, port: int) -> str:
        """Why `address`, to which `name` resolved, must not be reached on `port`; "" if it may be.

        An address that is not public needs its own entry: an allowed name does not suffice, because its owner decides
        what it resolves to. `localhost` is an exception (RFC 6761).
        """
        meant = effective(address)
        entries = [entry for entry in self._entries if port in entry.ports]
        if any(entry.has_address(meant) for entry in entries):
            return ""
        plain = name.lower().rstrip(".")
        named = any(entry.has_name(plain) for entry in entries)
        if not (named or self._public):
            return "not allowed"
        if is_public(meant) or (named and plain == "localhost" and meant.is_loopback):
            return ""
        return f"{meant} is not public, and such an address needs its own entry"


def _entry(text: str) -> _Entry:
    network = _network(text)
    if network is not None:
        return _Entry(_EVERY_PORT, network)
    match = _PORTS.fullmatch(text)
    host, ports = (text, _EVERY_PORT) if match is None else (match["host"], _ports(match))
    network = _network(host.removeprefix("[").removesuffix("]"))
    if network is not None:
        return _Entry(ports, network)
    below = host.startswith("*.")
    return _Entry(ports, name=host.removeprefix("*.").lower().rstrip("."), below=below)


def _ports(match: re.Match[str]) -> range:
    low = int(match["low"])
    return range(low, int(match["high"] or low) + 1)


def _network(text: str) -> Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
