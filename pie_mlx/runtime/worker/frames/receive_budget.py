"""Limits the memory of long frames being received, over all workers of an engine."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

ROOM_BYTES = 256 << 20
STALL_SECONDS = 20.0
"""How long a frame may take while another waits for its room."""


class _Entry(NamedTuple):
    size_bytes: int
    since_seconds: float
    give_up: Callable[[], None]


class _Wait(NamedTuple):
    size_bytes: int
    give_up: Callable[[], None]
    go_on: Callable[[], None]


@dataclass(slots=True, eq=False)
class ReceiveBudget:
    """Senders are numbers, each with one frame at a time; waiting ones are served in order. Belongs to `loop`."""

    loop: asyncio.AbstractEventLoop
    limit_bytes: int = ROOM_BYTES
    _used_bytes: int = 0
    _reserved: dict[int, _Entry] = field(default_factory=dict[int, _Entry])
    _waiting: dict[int, _Wait] = field(default_factory=dict[int, _Wait])
    _timer: asyncio.TimerHandle | None = None

    def reserve(self, sender: int, size_bytes: int, *, go_on: Callable[[], None], give_up: Callable[[], None]) -> bool:
        """Whether there is room now; otherwise `go_on` is called once there is.

        `give_up` is called if the frame makes others wait for too long.
        """
        if self._waiting or not self._fits(size_bytes):
            self._waiting[sender] = _Wait(size_bytes, give_up, go_on)
            self._watch()
            return False
        self._reserve(sender, size_bytes, give_up)
        return True

    def release(self, sender: int) -> None:
        """Release a frame's room, or stop waiting for it. Ignored without either."""
        self._waiting.pop(sender, None)
        if (entry := self._reserved.pop(sender, None)) is not None:
            self._used_bytes -= entry.size_bytes
        while self._waiting and self._fits(next(iter(self._waiting.values())).size_bytes):
            following = next(iter(self._waiting))
            wait = self._waiting.pop(following)
            self._reserve(following, wait.size_bytes, wait.give_up)
            wait.go_on()

    def _fits(self, size_bytes: int) -> bool:
        return self._used_bytes + size_bytes <= self.limit_bytes

    def _reserve(self, sender: int, size_bytes: int, give_up: Callable[[], None]) -> None:
        self._reserved[sender] = _Entry(size_bytes, self.loop.time(), give_up)
        self._used_bytes += size_bytes

    def _watch(self) -> None:
        if self._timer is None and self._reserved:
            first = next(iter(self._reserved.values()))
            self._timer = self.loop.call_at(first.since_seconds + STALL_SECONDS, self._end_stalled)

    def _end_stalled(self) -> None:
        self._timer = None
        late_seconds = self.loop.time() - STALL_SECONDS
        for entry in list(self._reserved.values()):
            if self._waiting and entry.since_seconds <= late_seconds:
                entry.give_up()
        if self._waiting:
            self._watch()
