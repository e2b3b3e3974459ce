"""Memory and number of the processes in a process tree, measured from outside."""

import ctypes
import os
import resource
import sys
from dataclasses import dataclass

_PAGE_BYTES = resource.getpagesize()


@dataclass(frozen=True, slots=True)
class Residency:
    """Resident bytes of a process and its descendants, and their number."""

    resident_bytes: int
    processes: int


def family(pid: int) -> set[int]:
    """The ids of a process and its descendants."""
    known, waiting = set[int](), [pid]
    while waiting:
        one = waiting.pop()
        if one not in known:
            known.add(one)
            waiting += _children(one)
    return known


def residency(pid: int, *, alone: bool = False) -> Residency:
    """The memory of a process with its descendants, or `alone`. Zero for one that has ended. Shared memory counts once
    if the system reports it."""
    known = {pid} if alone else family(pid)
    measure = _resident_bytes if len(known) == 1 else _proportional_bytes
    return Residency(sum(map(measure, known)), len(known))


if sys.platform == "darwin":
    _libproc = ctypes.CDLL("/usr/lib/libproc.dylib")
    _RUSAGE_INFO_V0 = 0
    _FOOTPRINT_PLACE = 16 + 8 * 7  # after the identifier and seven counters; what was compressed counts in it
    _CHILDREN_LIMIT = 1024

    def _resident_bytes(pid: int) -> int:
        info = ctypes.create_string_buffer(512)
        if _libproc.proc_pid_rusage(pid, _RUSAGE_INFO_V0, info) != 0:
            return 0
        return int.from_bytes(info.raw[_FOOTPRINT_PLACE : _FOOTPRINT_PLACE + 8], sys.byteorder)

    _proportional_bytes = _resident_bytes

    def _children(pid: int) -> list[int]:
        pids = (ctypes.c_int * _CHILDREN_LIMIT)()
        count = _libproc.proc_listchildpids(pid, pids, ctypes.sizeof(pids))
        return list(pids[: max(0, count)])

else:

    def _resident_bytes(pid: int) -> int:
        try:
            with open(f"/proc/{pid}/statm") as file:
                return int(file.read().split()[1]) * _PAGE_BYTES
        except OSError:
            return 0

    def _proportional_bytes(pid: int) -> int:
        """Costs milliseconds: the kernel visits every page."""
        try:
            with open(f"/proc/{pid}/smaps_rollup") as file:
                return sum(int(line.split()[1]) << 10 for line in file if line.startswith("Pss:"))
        except OSError:
            return 0

    def _children(pid: int) -> list[int]:
        found: list[int] = []
        try:
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/children") as file:
                    found += [int(word) for word in file.read().split()]
        except OSError:
            pass
        return found
