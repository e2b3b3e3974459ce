"""Counts failed logins and delays clients that keep failing.

Never locks out a user: failures at other addresses do not count, and keys cannot be guessed.
"""

import ipaddress
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

WINDOW_SECONDS = 60.0
USER_LIMIT, NETWORK_LIMIT = 20, 100
DELAY_SECONDS = 1.0
COUNTED = 4096
"""Counted users and addresses; beyond these the least recent are forgotten."""
_IPV6_PREFIX = 64
"""An IPv6 client owns a whole prefix of addresses."""


@dataclass(slots=True)
class _Counts:
    """Failures by key within the last minute, up to a limit per key."""

    limit: int
    clock: Callable[[], float]
    _times: OrderedDict[Hashable, deque[float]] = field(default_factory=OrderedDict[Hashable, deque[float]])

    def count_failure(self, key: Hashable) -> None:
        times = self._times.pop(key, None) or deque(maxlen=self.limit)
        times.append(self.clock())
        self._times[key] = times
        if len(self._times) > COUNTED:
            self._times.popitem(last=False)

    def is_full(self, key: Hashable) -> bool:
        times = self._times.get(key)
        return times is not None and len(times) == self.limit and times[0] >= self.clock() - WINDOW_SECONDS


class LoginFailures:
    """Counts by user and address, and by address alone. `clock` returns monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._users = _Counts(USER_LIMIT, clock)
        self._networks = _Counts(NETWORK_LIMIT, clock)

    def count_failure(self, user: str, address: str) -> None:
        network = _network(address)
        self._users.count_failure((user, network))
        self._networks.count_failure(network)

    def exceed_limit(self, user: str, address: str) -> bool:
        """Whether a connection is closed at its next failure as this user."""
        return self._users.is_full((user, _network(address)))

    def delay_seconds(self, address: str) -> float:
        """How long a login from this address waits for its challenge."""
        return DELAY_SECONDS if self._networks.is_full(_network(address)) else 0.0


def _network(address: str) -> str:
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return address
    mapped = found.ipv4_mapped
    return str(mapped or ipaddress.ip_network((int(found), _IPV6_PREFIX), strict=False))
