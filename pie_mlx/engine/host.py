"""The in-process host: an inferlet's calls carried to the engine's own loop and back."""

import asyncio
import concurrent.futures
from typing import Protocol, TypeVar

from pie_mlx.calls import Call
from pie_mlx.engine.process import Process

Reply = TypeVar("Reply")


class Sender(Protocol):
    """Begins a call on the engine's loop. Cancelling the future cancels the call."""

    def __call__(self, process: Process, message: Call[Reply]) -> "concurrent.futures.Future[Reply]": ...


class ProcessHost:
    """A `calls.Host` bound to one process. Usable from any thread and loop except the engine's own."""

    def __init__(self, send: Sender, process: Process) -> None:
        self._send = send
        self._process = process

    @property
    def process_id(self) -> str:
        return self._process.id

    def call(self, message: Call[Reply]) -> Reply:
        """Answer a call, blocking the calling thread. Raises the PieError the engine answers with."""
        return self._send(self._process, message).result()

    async def submit(self, message: Call[Reply]) -> Reply:
        """Answer a call. Cancelling takes it back unless its batch is already running (E5)."""
        return await asyncio.wrap_future(self._send(self._process, message))
