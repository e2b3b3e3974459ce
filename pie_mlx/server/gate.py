"""What is refused before anybody looks at it: foreign web pages, rebound names."""

from collections.abc import Collection
from dataclasses import dataclass

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP answer."""

    status: int
    text: str


def is_loopback(host: str) -> bool:
    return host in LOOPBACK_NAMES or host.startswith("127.")


def check_origin(origin: str | None, allowed: Collection[str]) -> Refusal | None:
    """Browsers say which page a request comes from; other clients send none."""
    if origin is None or origin in allowed:
        return None
    return Refusal(403, f"origin {origin[:200]} may not connect: add it to [server] allowed_origins\n")


def check_host(host_header: str | None, bound_host: str) -> Refusal | None:
    """A name that was rebound to the loopback address is not one of ours (8.2). Any port will do, tunnels change it."""
    if not is_loopback(bound_host):
        return None
    name = host_name(host_header or "")
    if name in LOOPBACK_NAMES or name == bound_host:
        return None
    return Refusal(403, "the Host header names another machine: use localhost or 127.0.0.1\n")


def host_name(header: str) -> str:
    """`[::1]:80` and `localhost:80` without port and brackets."""
    if header.startswith("["):
        name, _, rest = header[1:].lower().partition("]")
        return name if not rest or rest.startswith(":") else ""
    return header.partition(":")[0].lower()
