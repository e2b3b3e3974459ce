"""Watches the system's memory, and makes the engine use less while it is short."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from pie_mlx.engine.pressure.gauge import Gauge, Level
from pie_mlx.engine.pressure.readings import MemoryReading, ReadMemory
from pie_mlx.engine.scheduler.tick_state import MemoryTerms
from pie_mlx.events import Event, MemoryChanged

WATCH_SECONDS = 1.0

STEPS = 4
"""Parts of the pool: critical pressure withholds one at once and another every STEP_READINGS readings, all but the
last."""

STEP_READINGS = 5


class Shedding(Protocol):
    """The part of the tick loop used here."""

    @property
    def capacity_pages(self) -> int: ...
    def set_memory_terms(self, terms: MemoryTerms) -> None: ...
    def empty_cache(self) -> None: ...


class Device(Protocol):
    """The part of the runner used here."""

    def ease(self) -> Awaitable[None]: ...
    def hold(self) -> Awaitable[None]: ...


class MemoryKeeper:
    """Turns readings into terms for the tick loop, and reports changes. Runs on the engine's loop.

    *Warning*: cached pages, MLX's buffers and wired memory are freed, and a batch uses at most half of the available
    memory. *Critical*: in addition, contexts leave the pool, the cheapest first, a quarter of its pages at a time, and
    a batch uses at most a quarter. *Normal*: all of this is undone.
    """

    def __init__(
        self,
        read: ReadMemory,
        ticks: Shedding,
        device: Device,
        emit: Callable[[Event], None],
    ) -> None:
        self._read, self._ticks, self._device, self._emit = read, ticks, device, emit
        self._gauge = Gauge()
        self._critical_readings = 0
        self._watching: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Starts watching."""
        self._watching = asyncio.create_task(self.watch(), name="pie-memory")

    async def stop(self) -> None:
        """Stops watching."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    async def watch(self) -> None:
        """Watches until cancelled, or until the system reports nothing."""
        while (reading := await asyncio.to_thread(self._read)) is not None:
            await self.observe(reading)
            await asyncio.sleep(WATCH_SECONDS)

    async def observe(self, reading: MemoryReading) -> None:
        """Acts on one reading."""
        before, level = self._gauge.level, self._gauge.observe(reading)
        self._critical_readings = self._critical_readings + 1 if level is Level.CRITICAL else 0
        if level is not Level.NORMAL:
            self._ticks.set_memory_terms(self._terms(level, reading))
        elif before is not Level.NORMAL:
            self._ticks.set_memory_terms(MemoryTerms())
        if level is before and not self._steps_now:
            return
        if level > before or self._steps_now:
            self._ticks.empty_cache()
            await self._device.ease()
        elif level is Level.NORMAL:
            await self._device.hold()
        self._tell(level, reading)

    @property
    def _steps_now(self) -> bool:
        """Whether this reading withholds another part of the pool."""
        parts, rest = divmod(self._critical_readings - 1, STEP_READINGS)
        return not rest and 0 <= parts < STEPS - 1

    @property
    def _withheld_pages(self) -> int:
        parts = min(-(-self._critical_readings // STEP_READINGS), STEPS - 1)
        return self._ticks.capacity_pages * parts // STEPS

    def _terms(self, level: Level, reading: MemoryReading) -> MemoryTerms:
        share = 2 if level is Level.WARNING else 4
        return MemoryTerms(self._withheld_pages, reading.available_bytes // share)

    def _tell(self, level: Level, reading: MemoryReading) -> None:
        available, pages = reading.available_bytes, self._withheld_pages
        text = f"{available >> 20:,} of {reading.total_bytes >> 20:,} MiB available"
        match level:
            case Level.NORMAL:
                self._emit(MemoryChanged("normal", f"{text}: everything comes back", available))
            case Level.WARNING:
                told = f"{text}: cached pages and buffers are given back, prompts go in smaller pieces"
                self._emit(MemoryChanged("warning", told, available))
            case Level.CRITICAL:
                told = f"{text}: {pages:,} pages are left unused, and the contexts that bid least wait on disk"
                self._emit(MemoryChanged("critical", told, available, pages))
