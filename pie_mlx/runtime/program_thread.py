"""A program on a thread of its own, so that one which blocks holds up nobody else."""

import contextlib
import contextvars
import threading
from collections.abc import Callable

from pie_mlx.calls import Host
from pie_mlx.runtime.outcome import Outcome
from pie_mlx.runtime.output import Write, captured_output
from pie_mlx.runtime.program_run import ProgramRun


class ProgramThread:
    """The executor inside this interpreter: runs `body` once with `host` as its engine and reports how it ended.

    `write` takes what it prints; None leaves its output to the interpreter's own streams.
    """

    def __init__(
        self,
        body: Callable[[], object],
        host: Host,
        name: str,
        write: Write | None,
        report: Callable[[Outcome], None],
    ) -> None:
        self._write = write
        self._program = ProgramRun(body, host, report)
        context = contextvars.copy_context()
        # A program that never ends must not keep the interpreter from ending.
        self._thread = threading.Thread(target=context.run, args=(self._run,), name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def cancel(self, reason: str) -> None:
        """Cancel `body` at its next await or blocking wait. May be called from any thread, at any time."""
        self._program.cancel(reason)

    def kill(self) -> None:
        """Threads cannot be ended from outside: it goes on, but nobody listens to it and its calls are refused."""

    def _run(self) -> None:
        self._program.run(captured_output(self._write) if self._write else contextlib.nullcontext())
