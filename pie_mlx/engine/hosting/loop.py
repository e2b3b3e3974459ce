"""The engine's event loop, and the bridge that carries calls to it and replies back, many for one wake-up."""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from functools import partial
from typing import Any

from pie_mlx.calls import Call
from pie_mlx.errors import EngineStoppedError

_LAST_TURNS = 4
"""Turns of the loop for the last call: it is taken, refused and given back, and its program is woken."""


class EngineLoop(asyncio.SelectorEventLoop):
    """Runs whatever it has accepted from other threads, also while it ends: every call gets an answer."""

    def __init__(self) -> None:
        super().__init__()
        self._door = threading.RLock()  # reentrant: finalizers make calls, and may strike anywhere
        self._shut = False

    def call_soon_threadsafe(
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Raises RuntimeError from the last turns on."""
        with self._door:
            if self._shut:
                raise RuntimeError("Event loop is closed")
            return super().call_soon_threadsafe(callback, *args, context=context)

    def finish(self) -> None:
        """Accept nothing more, run what was accepted, and close. On a thread that may run the loop."""
        with self._door:
            self._shut = True
        for _ in range(_LAST_TURNS):
            self.call_soon(self.stop)
            self.run_forever()
        self.close()


Answer = Callable[[Call[Any]], Coroutine[Any, Any, Any]]
"""Answers a call on the engine's loop."""

_local = threading.local()


def bridge_to(there: asyncio.AbstractEventLoop) -> "LoopBridge":
    """The bridge from the running loop to the engine's: one for all programs of a loop."""
    here = asyncio.get_running_loop()
    known: LoopBridge | None = getattr(_local, "bridge", None)
    if known is None or known.here is not here or known.there is not there:
        known = _local.bridge = LoopBridge(there)
    return known


class LoopBridge:
    """Carries calls from the loop it is made on (`here`) to the engine's (`there`), and replies back.

    A wake-up of another thread's loop is a system call and a change of threads, dear beside a decode step, and the
    thread that is woken takes the interpreter from the one that goes on: where more is about to follow, the wake-up
    waits for it, and whatever gathers on either side while one is under way goes with it.
    """

    def __init__(self, there: asyncio.AbstractEventLoop) -> None:
        self.here = asyncio.get_running_loop()
        self.there = there
        self._calls: deque[_BridgedCall] = deque()
        self._replies: deque[_BridgedCall] = deque()
        self._calls_wake = self._replies_wake = False
        self._leaves_later = False
        self._leaving = threading.RLock()  # reentrant: a finalizer may post
        self._together = 0
        self._under_way = 0

    async def submit(self, message: Call[Any], answer: Answer) -> Any:
        """Answer a call. Cancelling withdraws it unless its batch is already running (E5)."""
        reply = self.here.create_future()
        bridged = _BridgedCall(message, answer, reply)
        self._calls.append(bridged)
        # Programs that were answered together ask again together.
        self._leave(at_once=self._together <= 1)
        try:
            return await reply
        except asyncio.CancelledError:
            self.hurry()
            with contextlib.suppress(EngineStoppedError):
                _wake(self.there, partial(_cancel, bridged))
            raise

    def post(self, message: Call[Any], answer: Answer) -> None:
        """Send a call without waiting for its reply: it leaves with the next one, or when this loop comes to it."""
        self._calls.append(_BridgedCall(message, answer, None))
        self._leave(at_once=False)

    def hurry(self) -> None:
        """Send waiting calls now. From any thread: at worst the other loop is woken once more."""
        if self._leaves_later:
            self._wake_there()

    def _leave(self, *, at_once: bool) -> None:
        if self._calls_wake:
            if at_once:
                self.hurry()
            return
        self._calls_wake = True
        if at_once:
            self._wake_there()
        else:
            with self._leaving:
                self._leaves_later = True
            self.here.call_soon(self.hurry)

    def _wake_there(self) -> None:
        try:
            with self._leaving:
                _wake(self.there, self._take_calls)
                # Not before: another thread that finds nothing to hurry may go past what was posted.
                self._leaves_later = False
        except EngineStoppedError as error:
            self._calls_wake = False
            while self._calls:
                reply = self._calls.popleft().reply
                if reply is not None and not reply.done() and not self.here.is_closed():
                    reply.set_exception(error)

    def _take_calls(self) -> None:
        """On the engine's loop."""
        self._calls_wake = False  # before the queue is emptied: a call that comes too late wakes again
        while self._calls:
            bridged = self._calls.popleft()
            bridged.task = self.there.create_task(bridged.answer(bridged.message))
            if bridged.reply is None:
                bridged.task.add_done_callback(_forget)
            else:
                self._under_way += 1
                bridged.task.add_done_callback(partial(self._give_back, bridged))

    def _give_back(self, bridged: "_BridgedCall", task: "asyncio.Task[Any]") -> None:
        """On the engine's loop."""
        bridged.task = task
        self._under_way -= 1
        self._replies.append(bridged)
        if not self._replies_wake:
            self._replies_wake = True
            if self._under_way:  # a batch answers many at once
                self.there.call_soon(self._wake_here)
            else:
                self._wake_here()

    def _wake_here(self) -> None:
        with contextlib.suppress(EngineStoppedError):  # the program's loop has closed: nothing waits any more
            _wake(self.here, self._take_replies)

    def _take_replies(self) -> None:
        """On the program's loop."""
        self._replies_wake = False
        self._together = len(self._replies)
        while self._replies:
            bridged = self._replies.popleft()
            if bridged.task is not None and bridged.reply is not None:
                _resolve(bridged.reply, bridged.task)


class _BridgedCall:
    """A call that crosses; `reply` is None for a posted one. `task` belongs to the engine's loop until it is done."""

    __slots__ = ("answer", "message", "reply", "task")

    def __init__(self, message: Call[Any], answer: Answer, reply: "asyncio.Future[Any] | None") -> None:
        self.message, self.answer, self.reply = message, answer, reply
        self.task: asyncio.Task[Any] | None = None


def _cancel(bridged: _BridgedCall) -> None:
    if bridged.task is not None:
        bridged.task.cancel()


def ended() -> EngineStoppedError:
    """The error of a call that the engine gave up because its process is over."""
    return EngineStoppedError("process: it has ended", hint="launch the program again")


def _resolve(reply: "asyncio.Future[Any]", task: "asyncio.Task[Any]") -> None:
    error = ended() if task.cancelled() else task.exception()
    if reply.done():
        return
    if error is None:
        reply.set_result(task.result())
    else:
        reply.set_exception(error)


def _forget(task: "asyncio.Task[Any]") -> None:
    if not task.cancelled():
        task.exception()


def _wake(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    """Raises EngineStoppedError when the loop has closed."""
    try:
        loop.call_soon_threadsafe(callback)
    except RuntimeError:
        raise EngineStoppedError("engine: it has stopped", hint="start another engine") from None
