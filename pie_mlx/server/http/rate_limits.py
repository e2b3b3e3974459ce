"""Limits on work per turn of the loop and per second, so that many requests do not delay everything else."""

import asyncio
import math
from collections import deque


class TurnLimiter:
    """Admits `per_turn` waiters per turn of the loop, in order."""

    def __init__(self, per_turn: int) -> None:
        self._per_turn = per_turn
        self._left = per_turn
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._turning = False

    async def turn(self) -> None:
        """Wait to be admitted."""
        loop = asyncio.get_running_loop()
        if not self._turning:
            self._turning = True
            loop.call_soon(self._next)
        if self._left > 0 and not self._waiting:
            self._left -= 1
            return
        waiting: asyncio.Future[None] = loop.create_future()
        self._waiting.append(waiting)
        await waiting

    def _next(self) -> None:
        self._left = self._per_turn
        self._turning = bool(self._waiting)
        if self._turning:
            asyncio.get_running_loop().call_soon(self._next)
        while self._waiting and self._left > 0:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(None)
                self._left -= 1


class ByteRateLimiter:
    """Limits a byte rate; after a pause, the bytes of `burst_seconds` pass at once."""

    def __init__(self, bytes_per_second: float, burst_seconds: float) -> None:
        self._bytes_per_second = bytes_per_second
        self._burst_seconds = burst_seconds
        self._paid_until = -math.inf

    def wait_seconds(self, size_bytes: int, now: float) -> float:
        """How long to wait after this many more bytes."""
        self._paid_until = max(self._paid_until, now - self._burst_seconds) + size_bytes / self._bytes_per_second
        return max(0.0, self._paid_until - now)
