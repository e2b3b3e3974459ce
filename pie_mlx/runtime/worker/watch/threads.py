"""Ends workers that start too many threads.

No system limit does this everywhere (see `limits.py`). Threads start quickly and can exhaust the process ids of a
machine, so this checks more often than `Watchdog`.
"""

import asyncio
import ctypes
import os
import sys
from collections.abc import Callable, Mapping

from pie_mlx.errors import ProcessError
from pie_mlx.runtime.worker.executor import WorkerExecutor
from pie_mlx.runtime.worker.limits import THREADS_LIMIT

if sys.platform == "darwin":
    LOOK_SECONDS = 0.25  # the kernel has a limit of some thousands itself
    _libproc = ctypes.CDLL("/usr/lib/libproc.dylib")
    _TASK_INFO, _TASK_INFO_BYTES = 4, 96
    _COUNT_PLACE = 84  # after six sizes and times, and nine counters

    def thread_count(process_id: int) -> int:
        """Threads of a process; 0 if it has ended."""
        info = ctypes.create_string_buffer(_TASK_INFO_BYTES)
        _libproc.proc_pidinfo(process_id, _TASK_INFO, ctypes.c_uint64(0), info, _TASK_INFO_BYTES)
        return int.from_bytes(info.raw[_COUNT_PLACE : _COUNT_PLACE + 4], sys.byteorder)

else:
    LOOK_SECONDS = 0.05

    def thread_count(process_id: int) -> int:
        """Threads of a process; 0 if it has ended."""
        try:
            return os.stat(f"/proc/{process_id}/task").st_nlink - 2
        except OSError:
            return 0


class ThreadWatch:
    """Checks every running worker. Belongs to `loop`."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        running: Mapping[int, WorkerExecutor],
        count: Callable[[int], int] = thread_count,
    ) -> None:
        self._loop = loop
        self._running = running
        self._count = count
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self._timer = self._loop.call_later(LOOK_SECONDS, self._look)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        for executor in list(self._running.values()):
            if executor.process_id is not None and self._count(executor.process_id) > THREADS_LIMIT:
                executor.kill_with(
                    ProcessError(f"Thread limit of {THREADS_LIMIT} exceeded", hint="run fewer at a time")
                )
        self.start()
