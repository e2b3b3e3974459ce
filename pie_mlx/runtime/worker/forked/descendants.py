"""Ends the processes that workers start, and workers with their engine.

Linux: a subreaper inherits orphaned descendants, so forking twice does not escape. Elsewhere only the process group is
known.

Every worker dies with the engine: on Linux by the kernel, elsewhere by a thread that waits for the end of a pipe which
only the engine holds open.
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
    """Be killed when `parent`, which forked this process, ends; where the kernel lacks this, when the other end of
    `lifeline` closes."""
    if sys.platform == "linux":
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before the call
            _die()
    else:
        _thread.start_new_thread(die_at_end_of, (lifeline,))


def die_at_end_of(pipe: int) -> None:
    """Wait until `pipe` has no writers left, or is closed here, then die."""
    with contextlib.suppress(OSError):
        os.read(pipe, 1)
    _die()


def kill_orphans(known: set[int]) -> None:
    """Kill every child of this process except the `known`, repeatedly, until none is left that forks."""
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
