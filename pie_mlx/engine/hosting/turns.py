"""Runs long work away from the engine's loop, one step of each program in turn."""

import asyncio
import contextlib
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TypeVar

T = TypeVar("T")

NICENESS = 5
"""The niceness of these threads. No higher: they hold the interpreter now and then, and the engine waits for it."""

Step = tuple[tuple[T] | None, float]
"""The result, None while there is more to do; and the seconds of processor time it took."""


class Turns:
    """Runs generators step by step on `threads` threads; those who wait take turns. It belongs to the engine's loop.

    An owner has one step at a time. Work that is cancelled ends after the step that is running.
    """

    def __init__(self, threads: int, name: str) -> None:
        self._free = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name, initializer=_step_back)
        self._running: set[Hashable] = set()
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}

    async def run(
        self, owner: Hashable, steps: Generator[object, None, T], count: Callable[[float], None] = lambda seconds: None
    ) -> T:
        """What `steps` returns. Raises what it raises. `count` gets the seconds of processor time of each step."""
        loop = asyncio.get_running_loop()
        while True:
            await self._wait(owner)
            answer: asyncio.Future[Step[T]] = loop.create_future()
            self._pool.submit(_step, steps).add_done_callback(partial(self._tell, loop, owner, answer))
            done, seconds = await answer
            count(seconds)
            if done is not None:
                return done[0]

    def close(self) -> None:
        """No step begins any more."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _tell(
        self,
        loop: asyncio.AbstractEventLoop,
        owner: Hashable,
        answer: "asyncio.Future[Step[T]]",
        step: "Future[Step[T]]",
    ) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and so has who waited
            loop.call_soon_threadsafe(self._take, owner, answer, step)

    def _take(self, owner: Hashable, answer: "asyncio.Future[Step[T]]", step: "Future[Step[T]]") -> None:
        self._end(owner)
        if answer.done():
            return
        if step.cancelled():
            answer.cancel()
        elif (error := step.exception()) is not None:
            answer.set_exception(error)
        else:
            answer.set_result(step.result())

    async def _wait(self, owner: Hashable) -> None:
        """Wait for this owner's turn, which ends with its step, even if the wait for the step ends before."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append(turn)
        self._begin()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._end(owner)
            raise

    def _end(self, owner: Hashable) -> None:
        self._running.remove(owner)
        self._free += 1
        self._begin()

    def _begin(self) -> None:
        """Give the next turns, as far as threads are free."""
        for owner in list(self._waiting):
            if not self._free:
                return
            if owner not in self._running:
                self._give_turn(owner)

    def _give_turn(self, owner: Hashable) -> None:
        turns = self._waiting.pop(owner)
        while turns:
            turn = turns.popleft()
            if not turn.done():
                turn.set_result(None)
                self._free -= 1
                self._running.add(owner)
                break
        if turns:
            self._waiting[owner] = turns  # behind the others


def _step_back() -> None:
    """Let the engine's threads come before this one. macOS has no such priority of a thread, but Macs have more
    processors."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), min(19, os.nice(0) + NICENESS))


def _step(steps: Generator[object, None, T]) -> Step[T]:
    begun = time.thread_time()
    try:
        next(steps)
    except StopIteration as end:
        return (end.value,), time.thread_time() - begun
    return None, time.thread_time() - begun
