"""Ends workers that do not respond or exceed their limits."""

import asyncio
import contextlib
import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from pie_mlx.errors import PieError, ProcessError
from pie_mlx.runtime.process_memory import Residency, residency
from pie_mlx.runtime.worker.executor import WorkerExecutor
from pie_mlx.runtime.worker.limits import cpu_exceeded, memory_exceeded
from pie_mlx.runtime.worker.settings import WorkerSettings
from pie_mlx.runtime.worker.watch.scratch import ScratchWatch

SAMPLE_SECONDS = 0.25
PROCESSES_LIMIT = 64
"""Processes per worker, if the sandbox does not forbid starting any."""


class Watchdog:
    """Checks every running worker a few times a second. Belongs to `loop`.

    A worker responds by calling, or by answering a ping from its program's loop. `own_socket` is the inode of the fork
    server's socket.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        settings: WorkerSettings,
        running: Mapping[int, WorkerExecutor],
        own_socket: Callable[[], int] = lambda: 0,
        look: Callable[[int], Residency] = residency,
    ) -> None:
        self._loop = loop
        self._settings = settings
        self._running = running
        self._look = look
        self._interval = min(SAMPLE_SECONDS, settings.watchdog_seconds / 4)
        self._last_seconds = 0.0
        self._scratch = ScratchWatch(settings.scratch_max_bytes, own_socket)
        self._measuring: asyncio.Future[None] | None = None
        self._looking: asyncio.Future[None] | None = None
        # Of its own: programs keep the loop's usual threads busy, and their memory grows meanwhile.
        self._thread = ThreadPoolExecutor(1, "pie-watchdog")
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self._last_seconds = self._loop.time()
        self._timer = self._loop.call_later(self._interval, self.tick)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._looking is not None:
            self._looking.cancel()  # its thread may end after the loop
        self._thread.shutdown(wait=False, cancel_futures=True)

    def tick(self) -> None:
        """Check all workers, and again after an interval."""
        now = self._loop.time()
        # If the engine itself was delayed, the silence is not the worker's fault.
        late = now - self._last_seconds > 2 * self._interval + 0.1
        self._last_seconds = now
        for executor in list(self._running.values()):
            if late or (executor.link is not None and executor.link.held):
                executor.heard_seconds = now
            verdict = self._silence(executor, now) or self._processor_excess(executor)
            if verdict is not None:
                executor.kill_with(verdict)
        if self._running and (self._measuring is None or self._measuring.done()):
            self._measuring = self._loop.run_in_executor(None, self._measure_scratch, list(self._running.values()))
        if self._running and (self._looking is None or self._looking.done()):
            self._looking = self._loop.run_in_executor(self._thread, self._look_at, list(self._running.values()))
        self._timer = self._loop.call_later(self._interval, self.tick)

    def _measure_scratch(self, executors: list[WorkerExecutor]) -> None:
        """Runs on another thread: directories may be large."""
        for executor, verdict in self._scratch.look(executors).items():
            self._end(executor, verdict)

    def _look_at(self, executors: list[WorkerExecutor]) -> None:
        """Runs on another thread: a look takes a part of a decode step, and there may be hundreds of workers."""
        for executor in executors:
            verdict = self._memory_excess(executor)
            if verdict is not None:
                self._end(executor, verdict)

    def _end(self, executor: WorkerExecutor, verdict: PieError) -> None:
        """Runs on any thread."""
        with contextlib.suppress(RuntimeError):  # the engine has stopped
            self._loop.call_soon_threadsafe(executor.kill_with, verdict)

    def _silence(self, executor: WorkerExecutor, now: float) -> PieError | None:
        if executor.is_debugged:
            return None
        silent_seconds = now - executor.heard_seconds
        if silent_seconds > self._settings.watchdog_seconds:
            return ProcessError(
                f"Watchdog: neither called nor yielded for {self._settings.watchdog_seconds:g} s",
                hint="await something, or use asyncio.to_thread for long computations",
            )
        if silent_seconds > self._settings.watchdog_seconds / 4:
            executor.ping()
        return None

    def _processor_excess(self, executor: WorkerExecutor) -> PieError | None:
        if not executor.is_debugged and executor.engine_seconds > (self._settings.max_cpu_seconds or math.inf):
            return cpu_exceeded(self._settings.max_cpu_seconds or 0)
        return None

    def _memory_excess(self, executor: WorkerExecutor) -> PieError | None:
        process_id = executor.process_id
        if process_id is None:
            return None
        found = self._look(process_id)
        if found.processes > PROCESSES_LIMIT:
            return ProcessError(f"Process limit of {PROCESSES_LIMIT} exceeded", hint="run fewer at a time")
        limit = self._settings.max_memory_bytes
        if limit is not None and found.resident_bytes > limit:
            return memory_exceeded(limit)
        return None
