"""Calls carried from a program's loop to the engine's, and replies back: many for one wake-up of a thread."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from pie_mlx.calls import Call
from pie_mlx.errors import EngineStoppedError

Answer = Callable[[Call[Any]], Coroutine[Any, Any, Any]]
"""Answers a call on the engine's loop."""


class Crossing:
    """The way between the loop it is made on (`here`) and the engine's (`there`).

    A wake-up of another thread's loop is a system call and a change of threads, dear beside a decode step: whatever
    gathers on either side while a wake-up is under way goes with it.
    """

    def __init__(self, there: asyncio.AbstractEventLoop, answer: Answer) -> None:
        self.here = asyncio.get_running_loop()
        self._there, self._answer = there, answer
        self._calls: deque[_Crosser] = deque()
        self._replies: deque[_Crosser] = deque()
        self._calls_wake = self._replies_wake = False

    async def submit(self, message: Call[Any]) -> Any:
        """Answer a call. Cancelling takes it back unless its batch is already running (E5)."""
        crosser = _Crosser(message, self.here.create_future())
        self._calls.append(crosser)
        if not self._calls_wake:
            self._calls_wake = True
            _wake(self._there, self._take_calls)
        try:
            return await crosser.reply
        except asyncio.CancelledError:
            with contextlib.suppress(EngineStoppedError):
                _wake(self._there, partial(_cancel, crosser))
            raise

    def _take_calls(self) -> None:
        """On the engine's loop."""
        self._calls_wake = False  # before the queue is emptied: a call that comes too late wakes again
        while self._calls:
            crosser = self._calls.popleft()
            crosser.task = self._there.create_task(self._answer(crosser.message))
            crosser.task.add_done_callback(partial(self._give_back, crosser))

    def _give_back(self, crosser: "_Crosser", task: "asyncio.Task[Any]") -> None:
        """On the engine's loop."""
        crosser.task = task
        self._replies.append(crosser)
        if not self._replies_wake:
            self._replies_wake = True
            with contextlib.suppress(EngineStoppedError):  # the program's loop has closed: nobody waits any more
                _wake(self.here, self._take_replies)

    def _take_replies(self) -> None:
        """On the program's loop."""
        self._replies_wake = False
        while self._replies:
            crosser = self._replies.popleft()
            if crosser.task is not None:
                _settle(crosser.reply, crosser.task)


class _Crosser:
    """A call on its way. `task` belongs to the engine's loop until it is done."""

    __slots__ = ("message", "reply", "task")

    def __init__(self, message: Call[Any], reply: "asyncio.Future[Any]") -> None:
        self.message, self.reply = message, reply
        self.task: asyncio.Task[Any] | None = None


def _cancel(crosser: _Crosser) -> None:
    if crosser.task is not None:
        crosser.task.cancel()


def _settle(reply: "asyncio.Future[Any]", task: "asyncio.Task[Any]") -> None:
    if task.cancelled():
        reply.cancel()
        return
    error = task.exception()
    if reply.done():
        return
    if error is None:
        reply.set_result(task.result())
    else:
        reply.set_exception(error)


def _wake(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    """Raises EngineStoppedError when the loop has closed."""
    try:
        loop.call_soon_threadsafe(callback)
    except RuntimeError:
        raise EngineStoppedError("engine: it has stopped", hint="start another engine") from None
