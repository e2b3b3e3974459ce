"""Lets workers that compute all the time come after the others, while several users have some.

A worker that decodes uses little of a processor but must get it at once: each of its steps waits for it.
"""

import asyncio
import ctypes
import sys
import time
from collections.abc import Callable, Mapping

from pie_mlx.runtime.worker.priorities import NICEST, Weighed, come_last, have_several_users, step_back

LOOK_SECONDS = 0.25
SHARE = 0.1
"""Of one processor, which a worker may use all the time; one that does nothing but decode uses half of that."""
EXCESS_SECONDS, STEP = 0.25, 5
"""After each so much processor time beyond its share, a worker gets nicer by a step: its weight is a third. Those who
are the nicest come last."""
MOST_EXCESS_SECONDS = 1.0
"""Of what was used while there was no other user, so much is remembered."""

BUSY = 0.25
"""Of one processor: when workers use more, all of them together count for less than the engine, whose session is
another one: `SESSION_NICENESS` leaves them a sixth of the processors that both want."""
SESSION_NICENESS = 7

if sys.platform == "darwin":
    _libproc = ctypes.CDLL("/usr/lib/libproc.dylib")
    _TASK_INFO, _TASK_INFO_BYTES = 4, 96
    _USER_PLACE, _SYSTEM_PLACE = 16, 24  # after two sizes, in ticks

    def _tick_seconds() -> float:
        ratio = (ctypes.c_uint32 * 2)()
        ctypes.CDLL("/usr/lib/libSystem.B.dylib").mach_timebase_info(ratio)
        return ratio[0] / ratio[1] * 1e-9

    def processor_seconds(process_id: int) -> float:
        """Processor time that a process has used; 0 if it has ended."""
        info = ctypes.create_string_buffer(_TASK_INFO_BYTES)
        _libproc.proc_pidinfo(process_id, _TASK_INFO, ctypes.c_uint64(0), info, _TASK_INFO_BYTES)
        ticks = (int.from_bytes(info.raw[at : at + 8], sys.byteorder) for at in (_USER_PLACE, _SYSTEM_PLACE))
        return sum(ticks) * _tick_seconds()

else:
    _PROCESSOR_TIME = 2

    def processor_seconds(process_id: int) -> float:
        """Processor time that a process has used; 0 if it has ended."""
        try:
            return time.clock_gettime((~process_id << 3) | _PROCESSOR_TIME)  # as clock_getcpuclockid(3) numbers them
        except OSError:
            return 0.0


class ProcessorWatch:
    """Looks at every running worker a few times a second. Belongs to `loop`.

    `weigh_session` sets the niceness of the session of all workers, and tells whether that worked.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        running: Mapping[int, Weighed],
        used: Callable[[int], float] = processor_seconds,
        come_last: Callable[[int], None] = come_last,
        weigh_session: Callable[[int], bool] = lambda niceness: False,
    ) -> None:
        self._loop = loop
        self._running = running
        self._used, self._come_last, self._weigh_session = used, come_last, weigh_session
        self._session_niceness = 0
        self._looked_seconds = 0.0
        self._uses: dict[int, float] = {}
        """Processor time of each worker at the last look."""
        self._excess: dict[int, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self._looked_seconds = self._loop.time()
        self._timer = self._loop.call_later(LOOK_SECONDS, self._look)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        elapsed, total = self._loop.time() - self._looked_seconds, 0.0
        are_several = have_several_users(self._running.values())
        before, excess = self._uses, self._excess
        self._uses, self._excess = {}, {}
        for number, worker in self._running.items():
            if worker.process_id is not None:
                self._uses[number] = used = self._used(worker.process_id)
                newly = used - before.get(number, used)
                total += used - before.get(number, 0.0)  # also of those who begin and end between few looks
                more = excess.get(number, 0.0) + newly - elapsed * SHARE
                self._excess[number] = min(max(0.0, more), MOST_EXCESS_SECONDS)
                if are_several and more >= EXCESS_SECONDS:
                    self._excess[number] -= EXCESS_SECONDS
                    step_back(worker, min(NICEST, worker.niceness + STEP))
                    if worker.niceness == NICEST:
                        self._come_last(worker.process_id)
        self._weigh_all(SESSION_NICENESS if are_several and total > elapsed * BUSY else 0)
        self.start()

    def _weigh_all(self, niceness: int) -> None:
        if niceness != self._session_niceness and self._weigh_session(niceness):
            self._session_niceness = niceness
