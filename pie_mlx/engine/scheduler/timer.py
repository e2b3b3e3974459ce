"""Something that is tried after a while, until it is done."""

import asyncio
from collections.abc import Callable


class Timer:
    """Calls `attempt` every `seconds` until it answers True or the timer is cancelled. On the loop that made it."""

    def __init__(self, seconds: float, attempt: Callable[[], bool]) -> None:
        self._seconds = seconds
        self._attempt = attempt
        self._start()

    def cancel(self) -> None:
        """Idempotent."""
        self._handle.cancel()

    def _start(self) -> None:
        self._handle = asyncio.get_running_loop().call_later(self._seconds, self._fire)

    def _fire(self) -> None:
        if not self._attempt():
            self._start()
