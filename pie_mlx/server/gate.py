"""What is refused before anybody looks at it: foreign web pages, rebound names, too many at once."""

import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
FAILURES_PER_MINUTE = 20


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
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()


@dataclass(slots=True)
class FailureCount:
    """Failed authentications per address within the last minute."""

    limit: int = FAILURES_PER_MINUTE
    clock: Callable[[], float] = time.monotonic
    _failures: dict[str, deque[float]] = field(default_factory=dict[str, deque[float]])

    def add(self, address: str) -> None:
        self._failures.setdefault(address, deque(maxlen=self.limit)).append(self.clock())

    def refuses(self, address: str) -> Refusal | None:
        failures = self._failures.get(address)
        if failures is None:
            return None
        while failures and failures[0] < self.clock() - 60:
            failures.popleft()
        if not failures:
            del self._failures[address]
        if len(failures) < self.limit:
            return None
        return Refusal(429, "too many failed authentications from this address: wait a minute\n")
