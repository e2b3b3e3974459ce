"""What a process costs the engine besides its passes, and how that is kept from costing others."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

SHARE = 0.25
"""Of the engine's loop, for a process and for a user, while passes of others are under way."""
BURST_SECONDS = 0.05
MOST_DEBT_SECONDS = 0.5
"""Time used while no other process wanted it is soon forgotten."""
THREADS = 4
"""For what would hold up the loop; each process uses one of them at a time."""


@dataclass(slots=True, eq=False)
class LoopDebt:
    """What a process, or all processes of a user, used beyond their share. `others_compute` tells whether a pass of
    another is under way."""

    others_compute: Callable[[], bool]
    clock: Callable[[], float] = time.monotonic
    _seconds: float = 0.0
    _counted_seconds: float = 0.0

    def charge(self, seconds: float) -> None:
        now = self.clock()
        paid = (now - self._counted_seconds) * SHARE
        self._counted_seconds = now
        self._seconds = min(max(0.0, self._seconds - paid) + seconds, MOST_DEBT_SECONDS)

    @property
    def rest_seconds(self) -> float:
        excess = self._seconds - BURST_SECONDS
        return excess / SHARE if excess > 0 and self.others_compute() else 0.0


@dataclass(slots=True, eq=False)
class EngineTime:
    """Of one process, whose debt and whose user's debt are `debts`. Belongs to the engine's loop."""

    threads: Executor
    debts: Sequence[LoopDebt]
    seconds: float = 0.0
    """Processor time used for it so far."""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def charge(self, seconds: float) -> None:
        """Count time for which others had to wait."""
        self.seconds += seconds
        for debt in self.debts:
            debt.charge(seconds)

    def count(self, seconds: float) -> None:
        """Count processor time for which no other process waited."""
        self.seconds += seconds

    @property
    def rest_seconds(self) -> float:
        """How long it should ask for nothing more, as of the last charge."""
        return max([debt.rest_seconds for debt in self.debts])

    async def aside(self, work: Callable[..., T], *given: object) -> T:
        """What `work` answers on a thread beside the loop. One at a time, in the order of asking."""
        result, seconds = await self._run(work, given)
        self.charge(seconds)
        return _result(result)

    async def _run(self, work: Callable[..., T], given: tuple[object, ...]) -> tuple[T | Exception, float]:
        await self._turn.acquire()
        loop = asyncio.get_running_loop()
        try:
            running = self.threads.submit(_timed, work, given)
        except BaseException:
            self._turn.release()
            raise
        # Not here: the waiting task may be cancelled, which does not end what a thread has begun.
        running.add_done_callback(lambda _: _release(loop, self._turn))
        return await asyncio.wrap_future(running)


def _timed(work: Callable[..., T], given: tuple[object, ...]) -> tuple[T | Exception, float]:
    """What it answers or raises, and the processor time it took."""
    begun = time.thread_time()
    try:
        result = work(*given)
    except Exception as error:
        result = error
    return result, time.thread_time() - begun


def _result(result: T | Exception) -> T:
    if isinstance(result, Exception):
        raise result
    return result


def _release(loop: asyncio.AbstractEventLoop, turn: asyncio.Lock) -> None:
    with contextlib.suppress(RuntimeError):  # the loop has closed
        loop.call_soon_threadsafe(turn.release)
