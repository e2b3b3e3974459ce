"""How much of one kind of work a turn of the loop takes on, so that a crowd does not hold up everything else."""

import asyncio
from collections import deque


class Pace:
    """Lets so many go on `per_turn`, in the order in which they came."""

    def __init__(self, per_turn: int) -> None:
        self._per_turn = per_turn
        self._left = per_turn
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._turning = False

    async def turn(self) -> None:
        """Wait for one's turn."""
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
