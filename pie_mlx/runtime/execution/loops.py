"""Runs work on event loops of other threads."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from pie_mlx.errors import EngineStoppedError

T = TypeVar("T")


async def on_loop(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, run on another loop. Cancelling cancels it. Raises EngineStoppedError on a closed loop."""
    try:
        running = asyncio.run_coroutine_threadsafe(work, loop)
    except RuntimeError:
        work.close()
        raise EngineStoppedError("engine: it has stopped", hint="start another engine") from None
    return await asyncio.wrap_future(running)


class LoopThread:
    """A loop on its own thread, started with the first work. Safe from any thread."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    async def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of `work`, run there. Raises EngineStoppedError after `close`."""
        return await on_loop(self._running_loop(), work())

    def post(self, act: Callable[[], None]) -> None:
        """Call `act` there, after everything posted before. Raises EngineStoppedError after `close`."""
        loop = self._running_loop()
        try:
            loop.call_soon_threadsafe(act)
        except RuntimeError:
            raise EngineStoppedError("engine: it has stopped", hint="start another engine") from None

    async def close(self, farewell: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run `farewell` there, cancel the remaining tasks, end the thread. Idempotent; no effect if never started."""
        with self._lock:
            begun = self._loop is not None and not self._closed
            self._closed = True
        if begun and self._loop is not None and self._thread is not None:
            await on_loop(self._loop, _last(farewell))
            self._loop.call_soon_threadsafe(self._loop.stop)
            await asyncio.to_thread(self._thread.join)
            self._loop.close()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise EngineStoppedError("engine: it has stopped", hint="start another engine")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True)
                self._thread.start()
            return self._loop


async def _last(farewell: Callable[[], Coroutine[Any, Any, None]]) -> None:
    await farewell()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
