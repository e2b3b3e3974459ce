"""Time in a replay: it passes from one recorded event to the next, and nothing waits."""

import asyncio
import math
import selectors
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from selectors import SelectorKey
from typing import Any, Protocol

_POLL_SECONDS = 0.02
_POOLED = "asyncio_"
"""How threads of a loop's own executor are named: they stay when their work is done."""


class VirtualTime:
    """The clock of a replayed program, in nanoseconds since the recording began.

    `readings` are the recorded times at which the program read a clock, `answers` those at which calls were answered:
    a reading gets the next recorded one of the stretch between two answers. Once it `goes_live` it passes as it does
    outside, from where it was.
    """

    def __init__(
        self,
        start_ns: int,
        readings: Sequence[int],
        answers: Sequence[int],
        real_ns: Callable[[], int] = time.monotonic_ns,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._now_ns = start_ns
        self._real_ns, self._sleep = real_ns, sleep
        self._live_since_ns: int | None = None
        self._readings = sorted(readings)
        self._answers = sorted(answers)
        self._read = 0
        self._limit_ns = self._limit(start_ns)

    @property
    def is_live(self) -> bool:
        return self._live_since_ns is not None

    @property
    def now_ns(self) -> int:
        return self._now_ns if self._live_since_ns is None else self._now_ns + self._real_ns() - self._live_since_ns

    def go_live(self) -> None:
        """From now on time passes as it does outside."""
        self._live_since_ns = self._real_ns()

    def read(self) -> int:
        if self.is_live:
            return self.now_ns
        while self._read < len(self._readings) and self._readings[self._read] < self._now_ns:
            self._read += 1
        if self._read < len(self._readings) and self._readings[self._read] <= self._limit_ns:
            self._now_ns = self._readings[self._read]
            self._read += 1
        return self._now_ns

    def answered(self, time_ns: int) -> None:
        """A call has got its answer, which came at that time."""
        self._now_ns = max(self._now_ns, time_ns)
        self._limit_ns = self._limit(time_ns)

    def pass_by(self, seconds: float) -> None:
        """At least a nanosecond: a timer that is almost due must become due."""
        if self.is_live:
            self._sleep(seconds)
        else:
            self._now_ns += max(1, math.ceil(max(seconds, 0.0) * 1e9))

    def _limit(self, time_ns: int) -> float:
        place = bisect_right(self._answers, time_ns)
        return self._answers[place] if place < len(self._answers) else math.inf


class Deliveries(Protocol):
    """Answers that a replayed program waits for."""

    time: VirtualTime

    def deliver(self, within_seconds: float | None) -> bool:
        """Give the program its next answer, if that comes within the time; False if none does."""
        ...

    def starve(self) -> None:
        """The program waits for what never comes."""
        ...


class ReplayLoop(asyncio.SelectorEventLoop):
    """An event loop in virtual time: while it has nothing to do, the next answer comes, or the next timer is due.

    Once time is live it waits like any other."""

    def __init__(self, deliveries: Deliveries) -> None:
        self._deliveries = deliveries
        self.working = 0
        """What runs on threads of its executor."""
        super().__init__(_ReplaySelector(self, deliveries))

    def time(self) -> float:
        return self._deliveries.time.now_ns / 1e9

    def run_in_executor(self, executor: Executor | None, func: Callable[..., Any], *args: Any) -> Any:
        future = super().run_in_executor(executor, func, *args)  # pyright: ignore[reportUnknownMemberType]
        self.working += 1
        future.add_done_callback(self._end_work)
        return future

    def _end_work(self, future: "asyncio.Future[Any]") -> None:
        del future
        self.working -= 1


class _ReplaySelector(selectors.DefaultSelector):
    def __init__(self, loop: ReplayLoop, deliveries: Deliveries) -> None:
        super().__init__()
        self._loop, self._deliveries = loop, deliveries
        self._others = set(threading.enumerate())

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        if self._deliveries.time.is_live:
            return super().select(timeout)
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0) or self._deliveries.deliver(timeout):
            return ready
        if self._loop.working or self._thread_runs():
            return super().select(_POLL_SECONDS if timeout is None else min(timeout, _POLL_SECONDS))
        if timeout is None:
            self._deliveries.starve()
        else:
            self._deliveries.time.pass_by(timeout)
        return []

    def _thread_runs(self) -> bool:
        """Whether the program has a thread of its own, which may still call."""
        others = set(threading.enumerate()) - self._others
        return any(not thread.name.startswith(_POOLED) for thread in others)
