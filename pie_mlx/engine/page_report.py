"""Whose the pages are, as one event that every display agrees with."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pie_mlx.engine.kv import Context, PageStore, count_pages, share_out
from pie_mlx.events import (
    ContextCreated,
    ContextForked,
    ContextPages,
    ContextReleased,
    ContextRestored,
    ContextSuspended,
    Event,
    MemoryChanged,
    PagesCounted,
    PageUsage,
    ProcessPages,
    TickCompleted,
)

COUNT_SECONDS = 0.1
"""From an event that may have moved pages to the count: counting takes longer than anything else about an event."""


@dataclass(frozen=True, slots=True)
class PageCounts:
    """The pages of the pool, of every process and of every context, at one moment."""

    pages: PageUsage
    processes: Mapping[str, ProcessPages]
    contexts: Mapping[int, ContextPages]


class PageReport:
    """Passes events on, and tells soon after how counts of pages changed. For one loop."""

    def __init__(self, store: PageStore, emit: Callable[[Event], None]) -> None:
        self._store, self._emit = store, emit
        self._process_of: dict[int, str] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._told = PageCounts(PageUsage(0, 0, 0, 0), {}, {})

    def emit(self, event: Event) -> None:
        """Pass an event on, and count soon if it may have moved pages."""
        self._emit(event)
        match event:
            case ContextCreated(process=process, context=context) | ContextForked(process=process, context=context):
                self._process_of[context] = process
            case ContextReleased(context=context):
                self._process_of.pop(context, None)
            case TickCompleted() | ContextSuspended() | ContextRestored() | MemoryChanged():
                pass
            case _:
                return
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(COUNT_SECONDS, self.count)

    def close(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()

    def count(self) -> PageCounts:
        """The counts of this moment. What differs from the latest ones becomes an event, so that all displays agree."""
        self.close()
        self._timer = None
        told, counts = self._told, self._counted()
        if counts != told:
            self._told = counts
            emptied = [ProcessPages(name, 0, 0) for name in told.processes if name not in counts.processes]
            changed = [one for name, one in counts.processes.items() if told.processes.get(name) != one]
            contexts = [one for number, one in counts.contexts.items() if told.contexts.get(number) != one]
            self._emit(PagesCounted(counts.pages, (*changed, *emptied), tuple(contexts)))
        return counts

    def _counted(self) -> PageCounts:
        sharing = share_out(self._store.contexts)
        usage = self._store.usage(sharing)
        held = [context for context in self._store.contexts if context.number in self._process_of]
        families: dict[str, list[Context]] = {}
        for context in held:
            families.setdefault(self._process_of[context.number], []).append(context)
        processes = count_pages(families)
        contexts = count_pages({context.number: [context] for context in held})
        return PageCounts(
            PageUsage(usage.capacity, usage.used, usage.shared, usage.cached, usage.withheld),
            {name: ProcessPages(name, count.own, count.shared) for name, count in processes.items()},
            {
                number: ContextPages(number, count.own, count.shared, round(sharing.effective.get(number, 0.0), 3))
                for number, count in contexts.items()
            },
        )
