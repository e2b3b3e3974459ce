"""Signals that end a command while a coroutine runs."""

import asyncio
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import Any, TypeVar

from pie_mlx.cli.terminal.signals import end_at_once, handled_by

Result = TypeVar("Result")
Protect = Callable[[], None]


def run_interruptible(main: Callable[[Protect], Coroutine[Any, Any, Result]]) -> Result:
    """Run a coroutine that calls its argument once there is something to clean up.

    From then on the first signal cancels it, and KeyboardInterrupt is raised when it has ended. Before that, and at the
    second signal, the command ends at once. Only for the main thread.
    """
    with asyncio.Runner() as runner:
        interruption = _Interruption(runner.get_loop())
        with handled_by(interruption):
            try:
                result = runner.run(main(interruption.protect))
            except asyncio.CancelledError:
                raise KeyboardInterrupt from None
        if interruption.happened:
            raise KeyboardInterrupt
        return result


class _Interruption:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.happened = False
        self._loop = loop
        self._task: asyncio.Task[Any] | None = None

    def protect(self) -> None:
        self._task = asyncio.current_task()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self._task is None or self.happened:
            end_at_once(number, frame)
        self.happened = True
        self._loop.call_soon_threadsafe(self._task.cancel)
