"""The engine's side of the fork server."""

import asyncio
import contextlib
import os
import socket
import subprocess
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pie_mlx.runtime.sandbox.interpreter import SAME_HASHES, isolated_python
from pie_mlx.runtime.worker.forked.zygote import COMMAND, FORK, FORK_ISOLATED, FORKED, KILL, NOT_FORKED, REPORT

BOOT = "from pie_mlx.runtime.worker.forked.zygote import main; main()"


@dataclass(frozen=True, slots=True)
class Exit:
    """How a worker ended: its exit status, or the negated signal that killed it; and the `cpu_seconds` it used.

    If not `forked`, the system could not start the process.
    """

    status: int
    cpu_seconds: float
    forked: bool = True


class ForkServer:
    """Starts and kills workers. Construction and `wait` may run on any thread, the rest belongs to `loop`.

    It removes `directory`, which contains those of the workers, when it ends. `on_fork` is called with the number and
    process id of a worker, `on_exit` once per ended worker, and `on_lost` once if the fork server dies, and all workers
    with it.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        environment: Mapping[str, str],
        directory: Path,
        on_fork: Callable[[int, int], None],
        on_exit: Callable[[int, Exit], None],
        on_lost: Callable[[], None],
        *,
        same_hashes: bool = False,
    ) -> None:
        self.works = False
        """Whether it has forked anything yet."""
        self._loop = loop
        self._on_fork = on_fork
        self._on_exit = on_exit
        self._on_lost = on_lost
        self._unsent: deque[tuple[bytes, tuple[int, ...]]] = deque()
        self._in_flight: dict[int, tuple[int, ...]] = {}
        """Descriptors by worker, until received: macOS may drop one that is in flight and open nowhere else."""
        self._received = b""
        self._control, theirs = socket.socketpair()
        self.socket_inode = os.fstat(theirs.fileno()).st_ino
        """The inode of its end of the link, which a worker has open until it closes it."""
        self._control.setblocking(False)
        lifeline, self._lifeline = os.pipe()
        try:
            with theirs:
                self._server = _start(environment, directory, theirs.fileno(), lifeline, same_hashes=same_hashes)
        finally:
            os.close(lifeline)
        loop.call_soon_threadsafe(loop.add_reader, self._control, self._readable)

    @property
    def process_id(self) -> int:
        return self._server.pid

    @property
    def is_lost(self) -> bool:
        """Whether the fork server has died."""
        return self._control.fileno() < 0

    def fork(self, number: int, fds: tuple[int, ...], *, isolated: bool = False) -> None:
        """Start worker `number` with its link and output pipes, which this object then owns.

        If `isolated`, it leaves the machine's network at once.
        """
        self._command(FORK_ISOLATED if isolated else FORK, number, fds)

    def kill(self, number: int) -> None:
        """Kill worker `number` and its descendants. Ignored if it has ended."""
        self._command(KILL, number, ())

    def hang_up(self) -> None:
        """Make the fork server kill all workers and exit. Idempotent."""
        if self._control.fileno() >= 0:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._control)
                self._loop.remove_writer(self._control)
            self._control.close()
            os.close(self._lifeline)
        self._unsent.clear()
        while self._in_flight:
            close_all(self._in_flight.popitem()[1])

    def wait(self) -> None:
        """Block until the fork server and every worker have exited."""
        try:
            self._server.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._server.kill()
            # If it hangs in the kernel, do not block the engine's shutdown.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._server.wait(timeout=5)

    def _command(self, operation: bytes, number: int, fds: tuple[int, ...]) -> None:
        if self._control.fileno() < 0:
            close_all(fds)
            return
        if fds:
            self._in_flight[number] = fds
        self._unsent.append((COMMAND.pack(operation, number), fds))
        self._writable()

    def _writable(self) -> None:
        while self._unsent:
            data, fds = self._unsent[0]
            try:
                # Short enough that a stream socket accepts all of it or nothing.
                socket.send_fds(self._control, [data], list(fds))
            except BlockingIOError:
                self._loop.add_writer(self._control, self._writable)
                return
            except OSError:
                self._lose()
                return
            self._unsent.popleft()
        self._loop.remove_writer(self._control)

    def _readable(self) -> None:
        try:
            data = self._control.recv(64 * REPORT.size)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lose()
            return
        self._received += data
        while len(self._received) >= REPORT.size:
            what, number, value, cpu_seconds = REPORT.unpack_from(self._received)
            self._received = self._received[REPORT.size :]
            self.works = True
            close_all(self._in_flight.pop(number, ()))
            if what == FORKED:
                self._on_fork(number, value)
            elif what == NOT_FORKED:
                self._on_exit(number, Exit(0, 0.0, forked=False))
            else:
                self._on_exit(number, Exit(os.waitstatus_to_exitcode(value), cpu_seconds))

    def _lose(self) -> None:
        if self._control.fileno() >= 0:
            self.hang_up()
            # Later: the caller of the failed command must first record its worker.
            self._loop.call_soon(self._on_lost)


def _start(
    environment: Mapping[str, str], directory: Path, control: int, lifeline: int, *, same_hashes: bool
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        isolated_python(BOOT, str(directory), str(control), str(lifeline), same_hashes=same_hashes),
        pass_fds=(control, lifeline),
        env={**environment, **SAME_HASHES} if same_hashes else dict(environment),
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )


def close_all(fds: tuple[int, ...]) -> None:
    """Close descriptors."""
    for fd in fds:
        os.close(fd)
