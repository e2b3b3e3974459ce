"""The in-process host: an inferlet's calls carried to the engine's own loop and back."""

import asyncio
import concurrent.futures
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

from pie_mlx.calls import Call
from pie_mlx.engine.crossing import crossing_to, hurry
from pie_mlx.engine.process import Process

Reply = TypeVar("Reply")


class Sender(Protocol):
    """Begins a call on the engine's loop. Cancelling the future cancels the call."""

    def __call__(self, process: Process, message: Call[Reply]) -> "concurrent.futures.Future[Reply]": ...


Answering = Callable[[Process, Call[Any]], Awaitable[Any]]
"""Answers a call on the engine's loop."""


class ProcessHost:
    """A `calls.Host` bound to one process. Usable from any thread and loop except the engine's own.

    What lives on the engine's loop, because it carries calls in from elsewhere, uses `answer` there.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, send: Sender, answer: Answering, process: Process) -> None:
        """`loop` is the engine's."""
        self._loop = loop
        self._send = send
        self._answer = answer
        self._process = process

    @property
    def process_id(self) -> str:
        return self._process.id

    def call(self, message: Call[Reply]) -> Reply:
        """Answer a call, blocking the calling thread. Raises the PieError the engine answers with."""
        hurry()
        return self._send(self._process, message).result()

    async def submit(self, message: Call[Reply]) -> Reply:
        """Answer a call. Cancelling takes it back unless its batch is already running (E5)."""
        return await crossing_to(self._loop).submit(message, self.answer)

    def post(self, message: Call[Any]) -> None:
        """Have a call answered that nobody waits for, before all that is sent later."""
        try:
            crossing = crossing_to(self._loop)
        except RuntimeError:  # no loop runs here
            hurry()
            self._send(self._process, message)
        else:
            crossing.post(message, self.answer)

    async def answer(self, message: Call[Any]) -> Any:
        """Answer a call, on the engine's loop only. Raises the PieError; cancelling takes the call back (E5)."""
        return await self._answer(self._process, message)
