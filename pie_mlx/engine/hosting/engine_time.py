"""What a process costs the engine besides its passes, and how that is kept from costing others."""

import asyncio
import contextlib
import time
import types
from collections.abc import Callable, Coroutine, Generator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")

SHARE = 0.25
"""The share of the loop's time that a process, and a user, may use while passes of others are under way."""
BURST_SECONDS = 0.05
MOST_DEBT_SECONDS = 0.5
"""The most debt that is remembered: time used while no other process wanted it is soon forgotten."""
MOST_DEBTORS = 1024
"""Users whose time is remembered, besides those who should rest."""
THREADS = 4
"""Threads for work that would hold up the loop; each process uses one at a time."""


@dataclass(frozen=True, slots=True)
class ShareTerms:
    """The `share` of something that one may use while others want it, beyond a burst; and how much debt is
    remembered."""

    share: float = SHARE
    burst_seconds: float = BURST_SECONDS
    most_debt_seconds: float = MOST_DEBT_SECONDS


LOOP_TERMS = ShareTerms()


@dataclass(slots=True, eq=False)
class LoopDebt:
    """What a process, or all processes of a user, used beyond their share. `others_compute` tells whether a pass of
    another is under way."""

    others_compute: Callable[[], bool]
    clock: Callable[[], float] = time.monotonic
    terms: ShareTerms = LOOP_TERMS
    _seconds: float = 0.0
    _counted_seconds: float = 0.0

    def charge(self, seconds: float) -> None:
        now = self.clock()
        paid = (now - self._counted_seconds) * self.terms.share
        self._counted_seconds = now
        self._seconds = min(max(0.0, self._seconds - paid) + seconds, self.terms.most_debt_seconds)

    @property
    def rest_seconds(self) -> float:
        excess = self._seconds - self.terms.burst_seconds
        return excess / self.terms.share if excess > 0 and self.others_compute() else 0.0


class LoopShares:
    """What each user used of a loop, or of what `terms` are for, beyond its share. `others_compute` tells of a user
    whether others have programs.
    """

    def __init__(
        self,
        others_compute: Callable[[str], bool],
        clock: Callable[[], float] = time.monotonic,
        terms: ShareTerms = LOOP_TERMS,
    ) -> None:
        self._others_compute, self._clock, self._terms = others_compute, clock, terms
        self._debts: dict[str, LoopDebt] = {}

    def on(self, terms: ShareTerms) -> "LoopShares":
        """The same on other terms, of which nothing is used yet."""
        return LoopShares(self._others_compute, self._clock, terms)

    def __len__(self) -> int:
        """How many users are remembered."""
        return len(self._debts)

    def rest_seconds(self, user: str) -> float:
        """For how long nothing should be done for a user."""
        debt = self._debts.get(user)
        if debt is None:
            return 0.0
        debt.charge(0.0)
        return debt.rest_seconds

    async def charging(self, user: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do some work for a user, who pays for it."""
        return await metered(work(), self._debt(user).charge, self._clock)

    async def aside(self, user: str, work: Callable[..., T], *given: object) -> T:
        """The result of `work` on another thread, which holds the interpreter instead of the loop: the user pays, even
        if it stops waiting."""
        working = asyncio.create_task(asyncio.to_thread(_timed, work, given))
        working.add_done_callback(lambda done: None if done.cancelled() else self.charge(user, done.result()[1]))
        result, _ = await asyncio.shield(working)
        return _result(result)

    def charge(self, user: str, seconds: float) -> None:
        """A user has used so much."""
        self._debt(user).charge(seconds)

    def _debt(self, user: str) -> LoopDebt:
        if len(self._debts) >= MOST_DEBTORS and user not in self._debts:
            self._debts = {name: debt for name, debt in self._debts.items() if self.rest_seconds(name)}
        new = LoopDebt(partial(self._others_compute, user), self._clock, self._terms)
        return self._debts.setdefault(user, new)


@dataclass(slots=True, eq=False)
class EngineTime:
    """Of one process, whose debt and whose user's debt are `debts`. Belongs to the engine's loop.

    `worked` gets the seconds that the loop works for its frames and calls.
    """

    threads: Executor
    debts: Sequence[LoopDebt]
    worked: Callable[[float], None] = lambda seconds: None
    seconds: float = 0.0
    """Processor time used for it so far."""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def charge(self, seconds: float) -> None:
        """Count time for which others had to wait."""
        self.seconds += seconds
        for debt in self.debts:
            debt.charge(seconds)

    @contextlib.contextmanager
    def working(self) -> Generator[None]:
        """Inside, the loop works for the process, apart from its calls."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.worked(time.perf_counter() - begun)

    def count(self, seconds: float) -> None:
        """Count processor time for which no other process waited."""
        self.seconds += seconds

    @property
    def rest_seconds(self) -> float:
        """How long it should ask for nothing more, as of the last charge."""
        return max([debt.rest_seconds for debt in self.debts])

    async def aside(self, work: Callable[..., T], *given: object) -> T:
        """The result of `work` on a thread beside the loop. A process has one at a time, in the order of asking."""
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


@types.coroutine
def metered(
    work: Coroutine[Any, Any, T], worked: Callable[[float], None], clock: Callable[[], float] = time.perf_counter
) -> Generator[Any, Any, T]:
    """Do `work`; `worked` gets the seconds of each of its steps, without its waits."""
    step = partial(work.send, None)
    while True:
        begun = clock()
        try:
            awaited = step()
        except StopIteration as end:
            return end.value
        finally:
            worked(clock() - begun)
            del step  # an error in it would keep this frame, and with it itself
        try:
            step = partial(work.send, (yield awaited))
        except BaseException as error:  # it is cancelled
            step = partial(work.throw, error)


def _timed(work: Callable[..., T], given: tuple[object, ...]) -> tuple[T | Exception, float]:
    """The result or the error of `work`, and the processor time it took."""
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
