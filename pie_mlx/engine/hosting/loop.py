"""The engine's event loop."""

import asyncio
import threading
from collections.abc import Callable
from contextvars import Context
from typing import Any

_LAST_TURNS = 4
"""A call that came last of all is taken, refused, given back, and its program woken: each takes a turn."""


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
