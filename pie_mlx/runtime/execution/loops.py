"""Event loops of several threads, and work carried between them."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from pie_mlx.errors import EngineStoppedError

T = TypeVar("T")


async def on_loop(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    """What `work` answers on another loop. Cancelling cancels it. Raises EngineStoppedError when it is closed."""
    try:
        running = asyncio.run_coroutine_threadsafe(work, loop)
    except RuntimeError:
        work.close()
        raise EngineStoppedError("engine: it has stopped", hint="start another engine") from None
    return await asyncio.wrap_future(running)


class LoopThread:
    """A loop on a thread of its own, begun with the first work. Safe from any thread."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    async def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What `work` answers there. Raises EngineStoppedError after `close`."""
        return await on_loop(self._running_loop(), work())

    def post(self, act: Callable[[], None]) -> None:
        """Have `act` called there, after all that was posted before. Raises EngineStoppedError after `close`."""
        loop = self._running_loop()
        try:
            loop.call_soon_threadsafe(act)
        except RuntimeError:
            raise EngineStoppedError("engine: it has stopped", hint="start another engine") from None

    async def close(self, farewell: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do `farewell` there, cancel what is left and end the thread. Idempotent; without work no farewell."""
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
