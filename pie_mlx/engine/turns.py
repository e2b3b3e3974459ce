"""Long work, a step of each program in turn, away from the engine's loop."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Generator, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

THREADS = 1
"""Long texts are never urgent, and the engine needs the other cores."""


class Turns:
    """Runs generators step by step on `threads` threads; those who wait take turns. It belongs to the engine's loop.

    Work that is cancelled ends behind the step that is running.
    """

    def __init__(self, threads: int = THREADS) -> None:
        self._free = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="pie-texts")
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}

    async def run(
        self, owner: Hashable, steps: Generator[object, None, T], count: Callable[[float], None] = lambda seconds: None
    ) -> T:
        """What `steps` returns. Raises what it raises. `count` is told the seconds that each step takes."""
        loop = asyncio.get_running_loop()
        while True:
            await self._wait(owner)
            step = self._pool.submit(_step, steps)
            step.add_done_callback(lambda _: loop.call_soon_threadsafe(self._pass_on))
            done, seconds = await asyncio.wrap_future(step)
            count(seconds)
            if done is not None:
                return done[0]

    async def close(self) -> None:
        """No step begins any more, and none is running."""
        await asyncio.to_thread(self._pool.shutdown)

    async def _wait(self, owner: Hashable) -> None:
        """Until it is this owner's turn. The turn is passed on when the step is over, whoever waits for it then."""
        if self._free:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        while self._waiting:
            owner = next(iter(self._waiting))
            turns = self._waiting.pop(owner)
            turn = turns.popleft()
            if turns:
                self._waiting[owner] = turns  # at the end: others come first
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


def _step(steps: Generator[object, None, T]) -> tuple[tuple[T] | None, float]:
    """None while there is more to do, and the seconds it took."""
    begun = time.perf_counter()
    try:
        next(steps)
    except StopIteration as end:
        return (end.value,), time.perf_counter() - begun
    return None, time.perf_counter() - begun
