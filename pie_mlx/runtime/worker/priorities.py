"""Which share of the processors the workers of each user get."""

import contextlib
import math
import os
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

WEIGHT_STEP = 1.25
"""A process that is nicer by one gets so much less of a processor that others want."""
NICEST = 19


class Weighed(Protocol):
    """A running worker; `process_id` leads its process group."""

    username: str
    process_id: int | None
    niceness: int


def weigh(workers: Iterable[Weighed]) -> None:
    """While several users have workers, let the n-th of each user, oldest first, count for 1/n² of a worker.

    So all workers of a user together count for little more than one. The system lets no worker become less nice again.
    """
    workers = list(workers)
    if not have_several_users(workers):
        return
    places: Counter[str] = Counter()
    for worker in workers:
        places[worker.username] += 1
        step_back(worker, min(NICEST, round(2 * math.log(places[worker.username], WEIGHT_STEP))))


def have_several_users(workers: Iterable[Weighed]) -> bool:
    """Whether not all are of one user."""
    return len({worker.username for worker in workers}) > 1


def step_back(worker: Weighed, niceness: int) -> None:
    """Make a worker as nice as that, if it is less nice."""
    if worker.process_id is not None and niceness > worker.niceness and _is_set(worker.process_id, niceness):
        worker.niceness = niceness


def come_last(process_id: int) -> None:
    """On Linux, let all threads of a process run only where no other worker wants to.

    The nicest process still keeps a processor for milliseconds once it has it, also from a worker that wakes up to
    decode; this one gives it up at once.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # it has ended
            for thread in os.listdir(f"/proc/{process_id}/task"):
                with contextlib.suppress(OSError):
                    os.sched_setscheduler(int(thread), os.SCHED_IDLE, os.sched_param(0))


def weigh_session(process_id: int, niceness: int) -> bool:
    """How much the session of a process counts beside others on Linux, which shares the processors among sessions
    before it looks at what is in them; whether that is set now."""
    try:
        Path(f"/proc/{process_id}/autogroup").write_text(str(niceness))
    except OSError:  # there is no such sharing, or it was changed a moment ago
        return False
    return True


def _is_set(process_id: int, niceness: int) -> bool:
    """Whether a process and its descendants have it now. One that was just forked leads no group yet."""
    for kind in (os.PRIO_PGRP, os.PRIO_PROCESS):
        with contextlib.suppress(OSError):
            os.setpriority(kind, process_id, niceness)
            return True
    return False  # it has ended
