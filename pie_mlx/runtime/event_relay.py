"""Events of several threads, in order, to one observer on its own loop."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable

from pie_mlx.events import Event, ProcessLaunched

GATHER_SECONDS = 0.05
"""How long an event may wait for others. Ticks emit an event per pass: waking the observer's thread for each would take
the interpreter from the engine's thread just as often, and a core from its batches."""


class EventRelay:
    """`observe` is called on `loop` only."""

    def __init__(self, loop: asyncio.AbstractEventLoop, observe: Callable[[Event], None]) -> None:
        self._loop = loop
        self._observe = observe
        self._waiting: deque[Event] = deque()
        self._awake = False

    def post(self, event: Event) -> None:
        """Observe an event a little later. Any thread may call it; once the loop has closed it does nothing."""
        self._waiting.append(event)
        if not self._awake:
            self._awake = True
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._loop.call_later, GATHER_SECONDS, self.flush)

    def deliver(self, event: Event) -> None:
        """Observe an event now, after all that were posted before. On the loop only.

        A launch is observed first: the events posted before it may already concern its process.
        """
        if not isinstance(event, ProcessLaunched):
            self.flush()
        self._observe(event)

    def flush(self) -> None:
        """Observe what was posted. On the loop only."""
        self._awake = False  # before the queue is emptied: a later post must wake the loop again
        while self._waiting:
            self._observe(self._waiting.popleft())
