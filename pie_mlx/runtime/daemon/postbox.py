"""What other threads have to say to a loop: many messages for one wake-up."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable


class Postbox:
    """Belongs to `loop`; `post` may be called on any loop.

    A wake-up takes the interpreter from the thread that gives it. It is given when the sender's loop has nothing else
    to do at once, so that what all streams of a batch have to say comes with one.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._acts: deque[Callable[[], None]] = deque()
        self._waking = False

    def post(self, act: Callable[[], None]) -> None:
        """Have `act` called on the loop, after all that was posted before."""
        self._acts.append(act)
        if not self._waking:
            self._waking = True
            asyncio.get_running_loop().call_soon(self._wake)

    def empty(self) -> None:
        """Call what was posted. On the loop only."""
        self._waking = False  # before the box is emptied: what comes too late for it wakes again
        while self._acts:
            self._acts.popleft()()

    def _wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # it has closed: nobody is told any more
            self._loop.call_soon_threadsafe(self.empty)
