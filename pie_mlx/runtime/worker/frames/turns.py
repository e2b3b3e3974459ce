"""Whose frames the engine's loop takes next."""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Callable

ROUND_SECONDS = 1e-3
"""Of the loop's time that each user gets before it looks what has come from others. A turn that has begun goes on."""

FRAME_SECONDS = 5e-5
"""Cost of a frame besides its decoding: task, handler, answer."""

Turn = Callable[[], int]
"""Takes some frames of a worker; returns their number."""


class FrameTurns:
    """Takes the frames of each user's workers in rounds, so that a call waits for one round of each other user, however
    many workers that has. Belongs to `loop`. `are_several` tells whether several users have workers; without others,
    everything is taken at once.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        are_several: Callable[[], bool],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._loop, self._are_several, self._clock = loop, are_several, clock
        self._spent: defaultdict[str, float] = defaultdict(float)
        """In this round, in seconds."""
        self._waiting: dict[str, deque[Turn]] = {}
        self._has_round = False

    def enter(self, username: str, turn: Turn) -> bool:
        """Take a turn now, or, if the answer is False, in a later round, as the user has used this one up."""
        if not self._are_several() and not self._waiting:
            turn()
        elif username in self._waiting or self._spent[username] >= ROUND_SECONDS:
            self._waiting.setdefault(username, deque()).append(turn)
            return False
        else:
            self._take(username, turn)
        return True

    def _take(self, username: str, turn: Turn) -> None:
        if not self._has_round:
            self._has_round = True
            self._loop.call_soon(self._next_round)
        begun = self._clock()
        frames = turn()
        self._spent[username] += self._clock() - begun + frames * FRAME_SECONDS

    def _next_round(self) -> None:
        """The loop has looked at all sockets since the last one, and served those who had time left."""
        self._has_round = False
        self._spent.clear()
        for username in list(self._waiting):
            queue = self._waiting[username]
            while queue and self._spent[username] < ROUND_SECONDS:
                self._take(username, queue.popleft())
            if not queue:
                del self._waiting[username]
