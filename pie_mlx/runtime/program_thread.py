"""A program on a thread and an event loop of its own, so that one which blocks holds up nobody else."""

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Awaitable, Callable

from pie_mlx.calls import Host
from pie_mlx.errors import ProcessCancelledError
from pie_mlx.runtime.outcome import Failed, Outcome, returned
from pie_mlx.runtime.output import Write, captured_output
from pie_mlx.runtime.program_traceback import print_traceback
from pie_mlx.sdk._host import use_host


class ProgramThread:
    """Runs `body` once with `host` as its engine and reports how it ended.

    `write` takes what it prints; None leaves its output to the interpreter's own streams. `report` is called on the
    program's thread, before tasks it left behind are cancelled.
    """

    def __init__(
        self,
        body: Callable[[], Awaitable[object]],
        host: Host,
        *,
        name: str,
        write: Write | None,
        report: Callable[[Outcome], None],
    ) -> None:
        self._body = body
        self._host = host
        self._write = write
        self._report = report
        self._runner: asyncio.Runner | None = None
        self._task: asyncio.Task[object] | None = None
        self._cancelled = ""
        context = contextvars.copy_context()
        # A program that never ends must not keep the interpreter from ending.
        self._thread = threading.Thread(target=context.run, args=(self._run,), name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def cancel(self, reason: str) -> None:
        """Cancel `body` at its next await. May be called from any thread, at any time."""
        self._cancelled = self._cancelled or reason
        if self._runner is not None:
            with contextlib.suppress(RuntimeError):  # the loop has closed: there is nothing left to cancel
                self._runner.get_loop().call_soon_threadsafe(self._cancel_task)

    def _run(self) -> None:
        capture = captured_output(self._write) if self._write else contextlib.nullcontext()
        with capture, use_host(self._host), asyncio.Runner() as runner:
            self._runner = runner
            self._report(self._outcome(runner))

    def _outcome(self, runner: asyncio.Runner) -> Outcome:
        try:
            outcome: Outcome = returned(runner.run(self._main()))
        except BaseException as error:
            outcome = Failed(error)
        if self._cancelled:
            return Failed(ProcessCancelledError(self._cancelled))
        if isinstance(outcome, Failed):
            print_traceback(outcome.error)
        return outcome

    async def _main(self) -> object:
        self._task = asyncio.current_task()
        self._cancel_task()
        return await self._body()

    def _cancel_task(self) -> None:
        if self._cancelled and self._task is not None:
            self._task.cancel()
