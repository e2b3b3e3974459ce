"""One run of a program on its own event loop, in any thread or process."""

import asyncio
import contextlib
import inspect
import selectors
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from selectors import SelectorKey

from inferlet._calls.host import HostLink, use_host
from inferlet.sync._blocking import waiting_on
from pie_mlx.calls import Host
from pie_mlx.errors import ProcessCancelledError
from pie_mlx.runtime.execution.outcome import Failed, Outcome, returned
from pie_mlx.runtime.execution.program_traceback import print_traceback

STRETCH_SECONDS = 1e-3
"""How long a program runs through its awaits before it yields the interpreter."""

STAND_BACK_SECONDS = 5e-5
"""Longer than a thread takes to wake, so every waiting thread can get the interpreter."""


def new_program_loop() -> asyncio.AbstractEventLoop:
    """An event loop that lets the engine's thread run, whatever the program does between two awaits."""
    return asyncio.SelectorEventLoop(YieldingSelector())


class YieldingSelector(selectors.DefaultSelector):
    """Sleeps briefly now and then while a loop always has something ready.

    A loop with ready work polls without waiting, which releases the interpreter's lock and takes it again within a
    microsecond. A thread waiting for the lock wakes up too late and restarts its wait, so it never waits for a whole
    switch interval, after which it would get the lock. Without this, a program with little work between two
    `await asyncio.sleep(0)` makes the engine wait for seconds.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        super().__init__()
        self._clock, self._sleep = clock, sleep
        self._due = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        if timeout is not None and timeout <= 0:
            self._stand_back()
            return super().select(0)
        found = super().select(timeout)
        self._due = self._clock() + STRETCH_SECONDS
        return found

    def _stand_back(self) -> None:
        if self._clock() >= self._due:
            self._sleep(STAND_BACK_SECONDS)
            self._due = self._clock() + STRETCH_SECONDS


class Abandoned(BaseException):
    """Ends a program whose outcome no longer matters. No `except Exception` of the program catches it."""


class ProgramRun:
    """Runs `body` once with `host` as its engine and reports how it ended.

    An awaitable result of `body` is awaited. A blocking program ends when `body` returns; its blocking calls wait on
    the same loop, which `new_loop` makes. `report` is called on the program's thread, before its remaining tasks are
    cancelled. `on_loop` is called with the program's loop before its first line.
    """

    def __init__(
        self,
        body: Callable[[], object],
        host: Host,
        report: Callable[[Outcome], None],
        on_loop: Callable[[asyncio.AbstractEventLoop], None] | None = None,
        new_loop: Callable[[], asyncio.AbstractEventLoop] = new_program_loop,
    ) -> None:
        self._body = body
        self._host = host
        self._report = report
        self._on_loop = on_loop
        self._new_loop = new_loop
        self._runner: asyncio.Runner | None = None
        self._task: asyncio.Task[object] | None = None
        self._cancelled = ""
        self._ended = False

    def run(self, capture: AbstractContextManager[None]) -> None:
        """Run to the end, with the program's output in `capture`."""
        with capture, use_host(self._host) as link, asyncio.Runner(loop_factory=self._new_loop) as runner:
            self._runner = runner
            if self._on_loop is not None:
                self._on_loop(runner.get_loop())
            self._report(self._outcome(runner, link))
            self._ended = True

    def cancel(self, reason: str) -> None:
        """Cancel `body` at its next await or blocking wait. May be called from any thread, at any time."""
        self._cancelled = self._cancelled or reason
        if self._runner is not None:
            with contextlib.suppress(RuntimeError):  # the loop has closed: nothing is left to cancel
                self._runner.get_loop().call_soon_threadsafe(self._cancel_task)

    def _outcome(self, runner: asyncio.Runner, link: HostLink) -> Outcome:
        try:
            value = self._result(runner)
            outcome: Outcome = returned(link.return_value if value is None else value)
        except SystemExit as end:  # `sys.exit()` ends a script early; status 0 is success
            outcome = Failed(end) if end.code else returned(link.return_value)
        except BaseException as error:
            outcome = Failed(error)
        if self._cancelled:
            return Failed(ProcessCancelledError(self._cancelled))
        if isinstance(outcome, Failed) and not isinstance(outcome.error, Abandoned):
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
                result.close()  # if cancelled before its first line, it would warn that it was never awaited

    async def _main(self, result: Awaitable[object]) -> object:
        self._task = asyncio.current_task()
        if self._cancelled:
            self._cancel_task()
        return await result

    def _cancel_task(self) -> None:
        """On the loop. A blocking program has only its current wait there; after its end, only what closes the loop."""
        if self._ended:
            return
        for task in [self._task] if self._task is not None else asyncio.all_tasks():
            task.cancel()
