"""Events of several threads, in order, to one observer on its own loop."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable

from pie_mlx.events import Event, ProcessLaunched

GATHER_SECONDS = 0.05
"""How long an event may wait for others. A tick tells of every pass: woken for each, the observer's thread would take
the interpreter from the engine's as often, and a core from its batches."""


class EventRelay:
    """`observe` is called on `loop` only."""

    def __init__(self, loop: asyncio.AbstractEventLoop, observe: Callable[[Event], None]) -> None:
        self._loop = loop
        self._observe = observe
        self._waiting: deque[Event] = deque()
        self._awake = False

    def post(self, event: Event) -> None:
        """Have an event observed a little later. From any thread; nothing happens once the loop has closed."""
        self._waiting.append(event)
        if not self._awake:
            self._awake = True
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._loop.call_later, GATHER_SECONDS, self.flush)

    def deliver(self, event: Event) -> None:
        """Observe an event now, after all that were posted before. On the loop only.

        A launch comes before the others: what the engine has said of that process meanwhile is among them.
        """
        if not isinstance(event, ProcessLaunched):
            self.flush()
        self._observe(event)

    def flush(self) -> None:
        """Observe what was posted. On the loop only."""
        self._awake = False  # before the queue is emptied: what comes too late for it wakes again
        while self._waiting:
            self._observe(self._waiting.popleft())
