"""One run of a program on an event loop of its own, whatever thread or process that is in."""

import asyncio
import contextlib
import inspect
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager

from pie_mlx.calls import Host
from pie_mlx.errors import ProcessCancelledError
from pie_mlx.runtime.outcome import Failed, Outcome, returned
from pie_mlx.runtime.program_loop import new_program_loop
from pie_mlx.runtime.program_traceback import print_traceback
from pie_mlx.sdk._calls.host import use_host
from pie_mlx.sdk.sync._blocking import waiting_on


class ProgramRun:
    """Runs `body` once with `host` as its engine and reports how it ended.

    What `body` gives is awaited if it can be; a program that blocks is over when `body` returns, and its blocking calls
    wait on the same loop. `report` is called on the program's thread, before tasks it left behind are cancelled.
    `on_loop` is called with the program's loop before its first line.
    """

    def __init__(
        self,
        body: Callable[[], object],
        host: Host,
        report: Callable[[Outcome], None],
        on_loop: Callable[[asyncio.AbstractEventLoop], None] | None = None,
    ) -> None:
        self._body = body
        self._host = host
        self._report = report
        self._on_loop = on_loop
        self._runner: asyncio.Runner | None = None
        self._task: asyncio.Task[object] | None = None
        self._cancelled = ""
        self._ended = False

    def run(self, capture: AbstractContextManager[None]) -> None:
        """Run to the end, with the program's output in `capture`."""
        with capture, use_host(self._host), asyncio.Runner(loop_factory=new_program_loop) as runner:
            self._runner = runner
            if self._on_loop is not None:
                self._on_loop(runner.get_loop())
            self._report(self._outcome(runner))
            self._ended = True

    def cancel(self, reason: str) -> None:
        """Cancel `body` at its next await or blocking wait. May be called from any thread, at any time."""
        self._cancelled = self._cancelled or reason
        if self._runner is not None:
            with contextlib.suppress(RuntimeError):  # the loop has closed: there is nothing left to cancel
                self._runner.get_loop().call_soon_threadsafe(self._cancel_task)

    def _outcome(self, runner: asyncio.Runner) -> Outcome:
        try:
            outcome: Outcome = returned(self._result(runner))
        except SystemExit as end:  # `sys.exit()` is how a script ends early, and a code of 0 no error
            outcome = Failed(end) if end.code else returned(None)
        except BaseException as error:
            outcome = Failed(error)
        if self._cancelled:
            return Failed(ProcessCancelledError(self._cancelled))
        if isinstance(outcome, Failed):
            print_traceback(outcome.error)
        return outcome

    def _result(self, runner: asyncio.Runner) -> object:
        if self._cancelled:
            raise ProcessCancelledError(self._cancelled)
        with waiting_on(runner.get_loop()):
            result = self._body()
        if not inspect.isawaitable(result):
            return result
        try:
            return runner.run(self._main(result))
        finally:
            if inspect.iscoroutine(result):
                result.close()  # cancelled before its first line it would be one that was never awaited

    async def _main(self, result: Awaitable[object]) -> object:
        self._task = asyncio.current_task()
        if self._cancelled:
            self._cancel_task()
        return await result

    def _cancel_task(self) -> None:
        """On the loop. All a program that blocks has there is the wait it is in; once it has ended, what closes the
        loop."""
        if self._ended:
            return
        for task in [self._task] if self._task is not None else asyncio.all_tasks():
            task.cancel()
