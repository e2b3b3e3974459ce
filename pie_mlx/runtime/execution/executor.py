"""Where a program runs: the contract, and its implementation on a thread of this interpreter."""

import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Protocol

from pie_mlx.calls import Host
from pie_mlx.runtime.execution.outcome import Outcome
from pie_mlx.runtime.execution.output_capture import Write, captured_output
from pie_mlx.runtime.execution.program_run import ProgramRun


class Executor(Protocol):
    """Runs one program once and reports its outcome once, whatever happens. Methods may be called from any thread."""

    def start(self) -> None:
        """Begin. Called once."""
        ...

    def cancel(self, reason: str) -> None:
        """Ask the program to end: it then fails with a ProcessCancelledError that says `reason`. Idempotent."""
        ...

    def kill(self) -> None:
        """End it now, as far as that can be done. Idempotent."""
        ...


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
