"""The event loop of a program."""

import asyncio
import selectors
import time
from collections.abc import Callable
from selectors import SelectorKey

STRETCH_SECONDS = 1e-3
"""How long a program runs on through its awaits before it stands back."""

STAND_BACK_SECONDS = 5e-5
"""Longer than a thread takes to wake: after that the interpreter has been offered to everybody."""


def new_program_loop() -> asyncio.AbstractEventLoop:
    """A loop beside which the engine gets its turns, whatever the program does between two awaits."""
    return asyncio.SelectorEventLoop(YieldingSelector())


class YieldingSelector(selectors.DefaultSelector):
    """Stands back now and then while there is always something ready.

    A loop with work left looks for events without waiting, which lets go of the interpreter's lock and takes it again
    within a microsecond. A thread that waits for the lock is woken by that, comes too late, and begins its wait anew:
    it never waits for a whole switch interval, after which it would be given the lock. A program that does a little
    between two `await asyncio.sleep(0)` kept the engine waiting for seconds.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        super().__init__()
        self._clock, self._sleep = clock, sleep
        self._due = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        if timeout is not None and timeout <= 0:
            self._stand_back()
            return super().select(0)
        found = super().select(timeout)
        self._due = self._clock() + STRETCH_SECONDS
        return found

    def _stand_back(self) -> None:
        if self._clock() >= self._due:
            self._sleep(STAND_BACK_SECONDS)
            self._due = self._clock() + STRETCH_SECONDS
