"""Events that move pages, held until the engine has counted them."""

import asyncio
from collections.abc import Callable

from pie_mlx.events import (
    ContextCreated,
    ContextForked,
    ContextReleased,
    ContextRestored,
    ContextSuspended,
    MemoryChanged,
    PagesCounted,
    TickCompleted,
)
from pie_mlx.tui.model import Record
from pie_mlx.tui.source.base import Feed

MOVING = (
    ContextCreated,
    ContextForked,
    ContextReleased,
    ContextSuspended,
    ContextRestored,
    MemoryChanged,
    TickCompleted,
)
COUNT_SECONDS = 0.1
"""The engine counts so long after an event that may have moved pages, and tells if a count changed."""
PATIENCE_SECONDS = 2 * COUNT_SECONDS

Later = Callable[[float, Callable[[], None]], asyncio.TimerHandle]


class Settling:
    """Feeds records so that no frame shows what a tick did beside the pages from before it. For one loop."""

    def __init__(self, feed: Feed, later: Later | None = None) -> None:
        """`later` calls a function after so many seconds; by default the running loop does."""
        self._feed, self._later = feed, later or asyncio.get_running_loop().call_later
        self._held: list[Record] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, record: Record) -> None:
        """Feed the record, or hold it and what follows until its pages are counted."""
        if not self._held and not isinstance(record.event, MOVING):
            self._feed.extend([record])
            return
        self._held.append(record)
        if isinstance(record.event, PagesCounted):
            self.release()
        elif self._timer is None:
            self._timer = self._later(PATIENCE_SECONDS, self._release_counted)

    def release(self) -> None:
        """Feed all that is held."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        held, self._held = self._held, []
        if held:
            self._feed.extend(held)

    def _release_counted(self) -> None:
        """No count came: none changed until the engine looked. What came after that may wait for the next one."""
        counted = self._held[0].seconds + COUNT_SECONDS
        later = [record for record in self._held if record.seconds > counted]
        self._held = self._held[: len(self._held) - len(later)]
        self.release()
        for record in later:
            self.add(record)
