"""Processes that workers start, where the operating system lets one keep track of them.

Linux: a subreaper inherits whatever its descendants leave behind, so nothing escapes by forking twice. Elsewhere the
process group is all there is.

Every worker dies with the engine. On Linux the kernel sees to it, elsewhere a thread that waits for the end of a pipe
which only the engine holds open.
"""

import _thread
import contextlib
import ctypes
import os
import signal
import sys

_libc = ctypes.CDLL(None, use_errno=True)

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int, lifeline: int) -> None:
    """Be killed when `parent`, which forked this process, ends, or where the kernel does not do that, when the other
    end of `lifeline` is closed."""
    if sys.platform == "linux":
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before the kernel knew
            _die()
    else:
        _thread.start_new_thread(die_at_end_of, (lifeline,))


def die_at_end_of(pipe: int) -> None:
    """Wait until nothing can be written to `pipe` any more, or it is closed here, then die."""
    with contextlib.suppress(OSError):
        os.read(pipe, 1)
    _die()


def kill_orphans(known: set[int]) -> None:
    """Kill every child of this process but those `known`, again and again until none is left that forks on."""
    while orphans := _children() - known:
        for pid in orphans:
            _kill_and_reap(pid)


def _kill_and_reap(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        return


def _children() -> set[int]:
    pid = os.getpid()
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return {int(word) for word in file.read().split()}
    except OSError:
        return set()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        _libc.prctl(option, value, 0, 0, 0)
