"""How many threads a training may use so that it leaves a shared machine to the others."""

import os
import time
from pathlib import Path

LOOK_EVERY_SECONDS = 15.0
BUSY_OTHERS = 0.4
_STATISTICS = Path("/proc/stat")


def _machine_seconds() -> float:
    """Processor time that everybody used since the start of the machine, idle time left out."""
    fields = [int(field) for field in _STATISTICS.read_text().split("\n", 1)[0].split()[1:8]]
    user, nice, system, _, _, interrupts, soft_interrupts = fields
    return (user + nice + system + interrupts + soft_interrupts) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    times = os.times()
    return times.user + times.system


class SpareThreads:
    """`most` threads while others use less than `BUSY_OTHERS` of one core, otherwise one."""

    def __init__(self, most: int) -> None:
        self._most, self._count = most, 1
        self._seen: tuple[float, float, float] | None = None

    def count(self) -> int:
        if self._most == 1:
            return 1
        now = time.monotonic()
        if self._seen is None or now - self._seen[0] > LOOK_EVERY_SECONDS:
            self._count = self._most if self._others(now) < BUSY_OTHERS else 1
        return self._count

    def _others(self, now: float) -> float:
        """Cores that other processes used since the last look; the load average where there is no /proc."""
        if not _STATISTICS.exists():
            self._seen = (now, 0.0, 0.0)
            return os.getloadavg()[0] - self._count
        before, self._seen = self._seen, (now, _machine_seconds(), _own_seconds())
        if before is None:
            return BUSY_OTHERS
        then, machine, own = before
        return ((self._seen[1] - machine) - (self._seen[2] - own)) / (now - then)
