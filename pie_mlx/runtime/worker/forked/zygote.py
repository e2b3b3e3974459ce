"""The fork server: an interpreter that has imported what programs need, and forks workers.

    python -I -c '...' ROOT DIRECTORY CONTROL_FD LIFELINE_FD       (see fork_server.py)

It has one thread and never imports MLX or the engine. Commands and reports have a fixed size; a fork command
carries the worker's link and its two output pipes.
"""

import contextlib
import gc
import importlib.util
import os
import random
import select
import signal
import socket
import struct
import sys

from pie_mlx.runtime.file_tree import remove_tree
from pie_mlx.runtime.sandbox import prepare
from pie_mlx.runtime.worker.forked import child
from pie_mlx.runtime.worker.forked.descendants import adopt_orphans, kill_orphans

COMMAND = struct.Struct("<cI")
"""An operation and the number of a worker."""
REPORT = struct.Struct("<cIid")
"""An event, the number of a worker, its process id (forked) or wait status (exited), and, once exited, the processor
seconds it used. A worker that could not be forked has neither."""
FORK, FORK_ISOLATED, KILL = b"F", b"I", b"K"
FORKED, NOT_FORKED, EXITED = b"f", b"n", b"x"
FDS_PER_FORK = 3
LIKELY_IMPORTS = ("inferlet.sync", "datetime", "decimal", "hashlib", "random", "statistics", "textwrap")
"""Modules preloaded for programs."""
COMPONENTS = "pie_mlx.wasm.body"
"""Preloaded where it can run."""


class Zygote:
    """Forks, kills and reaps workers for the engine at the other end of `control`, until that closes."""

    def __init__(self, control: socket.socket, lifeline: int) -> None:
        self._control = control
        self._lifeline = lifeline
        """Closes when the engine ends."""
        self._workers: dict[int, int] = {}
        """Process ids by number."""
        self._wakeup, wake = os.pipe()
        os.set_blocking(self._wakeup, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self._wake = wake

    def serve(self) -> None:
        """Serve until the engine hangs up."""
        while True:
            ready, _, _ = select.select([self._control, self._wakeup], [], [])
            if self._wakeup in ready:
                self._drain_wakeups()
                self._reap()
            if self._control in ready and not self._obey():
                break
        for number in list(self._workers):
            self._kill(number)
        kill_orphans(set())
        with contextlib.suppress(ChildProcessError):
            while True:
                os.wait()

    def _obey(self) -> bool:
        """Execute one command; False if the engine has hung up."""
        try:
            data, fds, _, _ = socket.recv_fds(self._control, COMMAND.size, FDS_PER_FORK)
            while data and len(data) < COMMAND.size:
                data += self._control.recv(COMMAND.size - len(data))
        except ConnectionResetError:  # it hung up without reading the last report
            return False
        if not data:
            return False
        operation, number = COMMAND.unpack(data)
        if operation in (FORK, FORK_ISOLATED):
            self._fork(number, fds, isolated=operation == FORK_ISOLATED)
        else:
            self._kill(number)
        return True

    def _fork(self, number: int, fds: list[int], *, isolated: bool) -> None:
        parent = os.getpid()
        try:
            pid = os.fork()
        except OSError:
            pid = -1
        if pid == 0:
            self._become_worker(fds, isolated=isolated, parent=parent)
        for fd in fds:
            os.close(fd)
        if pid < 0:
            self._report(NOT_FORKED, number, 0)
        else:
            self._workers[number] = pid
            self._report(FORKED, number, pid)

    def _become_worker(self, fds: list[int], *, isolated: bool, parent: int) -> None:
        signal.set_wakeup_fd(-1)
        for fd in (self._wake, self._wakeup):
            os.close(fd)
        self._control.close()
        random.seed()
        child.run(*fds, isolated=isolated, parent=parent, lifeline=self._lifeline)

    def _kill(self, number: int) -> None:
        pid = self._workers.get(number)
        if pid is not None:
            _kill_tree(pid)

    def _reap(self) -> None:
        numbers = {pid: number for number, pid in self._workers.items()}
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in numbers:
                del self._workers[numbers[pid]]
                _kill_tree(pid)
                kill_orphans(set(self._workers.values()))
                self._report(EXITED, numbers[pid], status, usage.ru_utime + usage.ru_stime)

    def _report(self, what: bytes, number: int, value: int, cpu_seconds: float = 0.0) -> None:
        try:
            self._control.sendall(REPORT.pack(what, number, value, cpu_seconds))
        except OSError:
            return  # the engine has hung up; `serve` will notice

    def _drain_wakeups(self) -> None:
        try:
            while os.read(self._wakeup, 4096):
                pass
        except BlockingIOError:
            return


def _kill_tree(pid: int) -> None:
    """Kill a worker and its process group, which may outlive it."""
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def main() -> None:
    """Serve a control socket. The last arguments are the directory of all workers, and the descriptors of that socket
    and of a pipe that closes when the engine ends.

    Finally removes the directory, in case the engine could not.
    """
    directory, descriptor, lifeline = sys.argv[-3:]
    for name in LIKELY_IMPORTS:
        importlib.import_module(name)
    if importlib.util.find_spec("wasmtime") is not None:
        importlib.import_module(COMPONENTS)
    prepare()
    control = socket.socket(fileno=int(descriptor))
    os.set_inheritable(int(lifeline), False)
    adopt_orphans()
    # Workers share this memory: freeze it, so that their collections do not touch, and so copy, its pages.
    gc.collect()
    gc.freeze()
    Zygote(control, int(lifeline)).serve()
    remove_tree(directory)
