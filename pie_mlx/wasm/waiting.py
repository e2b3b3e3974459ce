"""What a component waits for: tasks of its program's loop, which runs only while the component waits."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Generic, TypeVar

from inferlet.sync._blocking import wait

T = TypeVar("T")

Pending = Callable[[], "asyncio.Future[Any] | None"]
"""What is still to be waited for; None when it is there."""


class Eventually(Generic[T]):
    """The outcome of a coroutine that `begin` makes, on the loop. It is cancelled with its last reference."""

    def __init__(self, begin: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._task = wait(_begun(begin))

    def pending(self) -> "asyncio.Future[T] | None":
        """The task, None once it has ended."""
        return None if self._task.done() else self._task

    def now(self) -> T | None:
        """The outcome if it is there. Raises what the coroutine raised."""
        if not is_ready(self.pending):
            return None
        return self._task.result()

    def finished(self) -> T:
        """Wait for the outcome. Raises what the coroutine raised."""
        wait_for_any([self.pending])
        return self._task.result()

    def __del__(self) -> None:
        task = getattr(self, "_task", None)
        if task is not None and not task.done() and not task.get_loop().is_closed():
            task.cancel()


async def _begun(begin: Callable[[], Coroutine[Any, Any, T]]) -> "asyncio.Task[T]":
    task = asyncio.ensure_future(begin())
    task.add_done_callback(_retrieve)  # a component need not ask how it ended
    return task


def _retrieve(task: "asyncio.Task[Any]") -> None:
    if not task.cancelled():
        task.exception()


def is_ready(pending: Pending) -> bool:
    """Whether it is there, after the loop has done what it can do now."""
    if pending() is None:
        return True
    wait(asyncio.sleep(0))
    return pending() is None


def wait_for_any(several: Iterable[Pending]) -> list[int]:
    """Wait until at least one is there; which ones are."""
    waits = list(several)
    while not (ready := [number for number, pending in enumerate(waits) if pending() is None]):
        futures = {future for pending in waits if (future := pending()) is not None}
        wait(asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED))
    return ready


class Arrivals(Generic[T]):
    """Values that arrive one by one. Waiting for one and taking it are two steps: what arrives for a component that has
    stopped waiting is not lost."""

    def __init__(self, arrive: Callable[[], Coroutine[Any, Any, object]], take: Callable[[], T | None]) -> None:
        self._arrive, self._take = arrive, take
        self._signal: Eventually[object] | None = None

    def pending(self) -> "asyncio.Future[Any] | None":
        """What to wait for; None when there is something to take."""
        if self._signal is None:
            self._signal = Eventually(self._arrive)
        return self._signal.pending()

    def take(self) -> T | None:
        """The next value, None if none is there. Raises what made waiting fail."""
        signal = self._signal
        if signal is not None and is_ready(signal.pending):
            self._signal = None
            signal.now()
        return self._take()
