"""Executors run one program: the contract, and the executor on a thread of this interpreter."""

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

    def start(self, begun: Callable[[], None]) -> None:
        """Begin. Called once. `begun` is called, on any thread, once the start no longer takes time of the machine."""
        ...

    def cancel(self, reason: str) -> None:
        """Ask the program to end: it fails with a ProcessCancelledError whose message is `reason`. Idempotent."""
        ...

    def kill(self) -> None:
        """End it now, as far as possible. Idempotent."""
        ...


class ProgramThread:
    """The executor in this interpreter: runs `body` once with `host` as its engine and reports how it ended.

    `write` gets its output; None leaves the output to the interpreter's own streams.
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
        # A daemon: a program that never ends must not keep the interpreter from exiting.
        self._thread = threading.Thread(target=context.run, args=(self._run,), name=name, daemon=True)

    def start(self, begun: Callable[[], None]) -> None:
        self._thread.start()
        begun()

    def cancel(self, reason: str) -> None:
        """Cancel `body` at its next await or blocking wait. May be called from any thread, at any time."""
        self._program.cancel(reason)

    def kill(self) -> None:
        """No effect: a thread cannot be killed. Its outcome is ignored and its calls are refused."""

    def _run(self) -> None:
        self._program.run(captured_output(self._write) if self._write else contextlib.nullcontext())
