"""The in-process host: an inferlet's calls carried to the engine's own loop and back."""

import asyncio
import concurrent.futures
import contextlib
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Protocol, TypeVar

from pie_mlx.calls import Call
from pie_mlx.engine.hosting.loop_bridge import Answer, LoopBridge, bridge_to, ended
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.errors import EngineStoppedError

Reply = TypeVar("Reply")


class Sender(Protocol):
    """Begins a call on the engine's loop. Cancelling the future cancels the call."""

    def __call__(self, process: HostedProcess, message: Call[Reply]) -> "concurrent.futures.Future[Reply]": ...


Answering = Callable[[HostedProcess, Call[Any]], Coroutine[Any, Any, Any]]
"""Answers a call on the engine's loop."""


class ProcessHost:
    """A `calls.Host` bound to one process. Usable from any thread and loop except the engine's own.

    What lives on the engine's loop, because it carries calls in from elsewhere, uses `answer` there: it answers a call,
    raises the PieError, and withdraws the call when it is cancelled (E5). `time`, what the process costs the engine,
    belongs to that loop too.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, send: Sender, answer: Answering, process: HostedProcess
    ) -> None:
        """`loop` is the engine's."""
        self._loop = loop
        self._send = send
        self.process_id = process.id
        self.time = process.time
        self.answer: Answer = partial(answer, process)
        self._process = process
        self._way: LoopBridge | None = None

    def call(self, message: Call[Reply]) -> Reply:
        """Answer a call, blocking the calling thread. Raises the PieError the engine answers with."""
        self._hurry()
        try:
            return self._send(self._process, message).result()
        except concurrent.futures.CancelledError:
            raise ended() from None

    def submit(self, message: Call[Reply]) -> Coroutine[Any, Any, Reply]:
        """Answer a call. Cancelling withdraws it unless its batch is already running (E5)."""
        return self._take_way().submit(message, self.answer)

    def post(self, message: Call[Any]) -> None:
        """Send a call without waiting for its reply. It is answered before all that is sent later."""
        try:
            way = self._take_way()
        except RuntimeError:  # no loop runs here
            self._hurry()
            with contextlib.suppress(EngineStoppedError):
                self._send(self._process, message)
        else:
            way.post(message, self.answer)

    def _take_way(self) -> LoopBridge:
        """The bridge of the running loop. Raises RuntimeError where none runs."""
        way = bridge_to(self._loop)
        if way is not self._way:
            self._hurry()
            self._way = way
        return way

    def _hurry(self) -> None:
        """What was sent before, from whatever thread, leaves before what is sent now (P3)."""
        if self._way is not None:
            self._way.hurry()
