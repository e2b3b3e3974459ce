"""The one thread that computes with models and pages."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from pie_mlx.engine.model.memory import Residency

T = TypeVar("T")


class DeviceThread:
    """Does the work of all models of an engine, in the order in which it came.

    Work comes from one event loop, but for what goes to the `thread` directly: nothing gives way to that.
    """

    def __init__(self) -> None:
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="pie-mlx")
        self.residency = Residency()
        self._submitted, self._begun, self._given_up = 0, 0, 0  # each is written by one thread
        self.free_since = 0.0
        """When the last work ended (`time.perf_counter`)."""

    def submit(self, work: Callable[[], T], rest: Callable[[], object] | None) -> Future[T]:
        """Do `work` once all earlier work is done, then `rest`, even if the work fails."""

        def counted() -> T:
            self._begun += 1
            try:
                return work()
            finally:
                if rest is not None:
                    rest()
                self.free_since = time.perf_counter()

        self._submitted += 1
        future = self.thread.submit(counted)
        future.add_done_callback(self._count_given_up)
        return future

    def is_idle(self) -> bool:
        """Whether nothing waits for what runs now."""
        return self._submitted == self._begun + self._given_up

    def close(self) -> None:
        """End the thread once the current work is done, with the wired limit that was there before."""
        self.thread.submit(self.residency.release)
        self.thread.shutdown(wait=True)

    def _count_given_up(self, future: Future[Any]) -> None:
        if future.cancelled():  # on the loop; a thread that finishes it calls this there, and must not write
            self._given_up += 1
