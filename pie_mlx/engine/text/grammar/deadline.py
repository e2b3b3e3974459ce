"""Native work that may take for ever, and cannot be interrupted."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

V = TypeVar("V")

STACK_BYTES = 256 << 20
"""Engines recurse into what grammars name, and end the process when the stack does. Only what is used takes memory."""
_starting = threading.Lock()


def _start(thread: threading.Thread) -> None:
    with _starting:  # the size is that of all threads that start
        usual = threading.stack_size(STACK_BYTES)
        try:
            thread.start()
        finally:
            threading.stack_size(usual)


class Deadline:
    """Runs work on threads of its own and waits `seconds` for it at most. Safe to use from any thread.

    Work that was given up runs on to its end. No more than `limit` pieces run at a time, those included; others wait
    for their turn, for as long as they would wait for their work.
    """

    def __init__(self, seconds: float, limit: int) -> None:
        self.seconds = seconds
        self._turns = threading.BoundedSemaphore(limit)

    def run(self, work: Callable[[], V]) -> V | None:
        """The result of `work`, or None when it takes too long. Raises what `work` raises."""
        if not self._turns.acquire(timeout=self.seconds):
            return None
        future = Future[V]()
        _start(threading.Thread(target=self._resolve, args=(future, work), name="pie-grammar", daemon=True))
        return future.result() if wait([future], self.seconds).done else None

    def _resolve(self, future: "Future[V]", work: Callable[[], V]) -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)
        finally:
            self._turns.release()
