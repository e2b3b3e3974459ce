"""Built-in programs that stay loaded and share one loop, which they never block for long."""

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, cast

from inferlet._calls.host import use_host
from pie_mlx.calls import BeginHttpAnswer, Call, Host, ReadHttpRequest, WriteHttpBody
from pie_mlx.engine.hosting.ports import HttpPort
from pie_mlx.errors import ProcessCancelledError
from pie_mlx.runtime.execution.entry import Entry, check_offers
from pie_mlx.runtime.execution.http_answer import answer_request
from pie_mlx.runtime.execution.outcome import Failed, Outcome, returned
from pie_mlx.runtime.execution.program_traceback import print_traceback
from pie_mlx.runtime.program.manifest import HANDLER
from pie_mlx.runtime.program.modules import ModuleSpace
from pie_mlx.runtime.program.program import Program

Body = Callable[[], object]
Report = Callable[[Outcome], None]


THREADS = 64
"""Threads for long calls to the engine, so that one program does not delay the others."""


class SharedLoop:
    """A loop on its own thread, until `close`. With 32 streams this costs a third less than 32 threads."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.loop.set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix=name))
        self._thread = threading.Thread(target=self.loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def executor(self, body: Body, host: Host, report: Report) -> "SharedLoopRun":
        """An executor that runs the asynchronous `body` here, once, with `host` as its engine."""
        return SharedLoopRun(self.loop, body, host, report)

    async def close(self) -> None:
        """End the thread, once no program runs here."""
        asyncio.run_coroutine_threadsafe(self._wind_down(), self.loop)
        await asyncio.to_thread(self._thread.join)
        self.loop.close()

    async def _wind_down(self) -> None:
        await self.loop.shutdown_default_executor()
        self.loop.stop()


class SharedLoopRun:
    """An `Executor` on a shared loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, body: Body, host: Host, report: Report) -> None:
        self._loop = loop
        self._body = body
        self._host = host
        self._report = report
        self._cancelled = ""
        self._task: asyncio.Task[None] | None = None

    def start(self, begun: Callable[[], None]) -> None:
        begun()
        # Not in the launcher's context.
        self._loop.call_soon_threadsafe(self._begin, context=contextvars.Context())

    def cancel(self, reason: str) -> None:
        """Cancel `body` at its next await."""
        self._cancelled = self._cancelled or reason
        self._loop.call_soon_threadsafe(self._cancel_task)

    def kill(self) -> None:
        """No effect: its outcome is ignored and its calls are refused."""

    def _begin(self) -> None:
        self._task = self._loop.create_task(self._run())
        self._cancel_task()

    def _cancel_task(self) -> None:
        if self._cancelled and self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        try:
            with use_host(self._host):
                outcome: Outcome = returned(await cast("Awaitable[object]", self._body()))
        except BaseException as error:  # the launcher must get an outcome
            outcome = Failed(error)
        if self._cancelled:
            outcome = Failed(ProcessCancelledError(self._cancelled))
        elif isinstance(outcome, Failed):
            print_traceback(outcome.error)
        self._report(outcome)


Reply = TypeVar("Reply")


class ResidentProgram:
    """A program whose modules are loaded once, in this interpreter; all its processes share them and `loop`.

    Only for trusted code. Raises LaunchError, and what the program's top level raises.
    """

    def __init__(self, program: Program, loop: SharedLoop) -> None:
        check_offers(program.manifest, program.dependencies)
        handle = getattr(ModuleSpace(program).load_main(), HANDLER)
        self._loop = loop
        self._entry = Entry(program.identity, program.manifest.parameters, partial(answer_request, handle))

    def entry(self, http: HttpPort) -> Entry:
        """The entry of a process that answers `http`."""
        return replace(self._entry, executor=partial(self._executor, http))

    def _executor(self, http: HttpPort, body: Body, host: Host, report: Report) -> SharedLoopRun:
        return self._loop.executor(body, DirectHttpHost(host, http), report)


class DirectHttpHost:
    """A host that answers HTTP calls directly instead of through the engine."""

    def __init__(self, host: Host, http: HttpPort) -> None:
        self._host = host
        self._http = http

    def call(self, message: Call[Reply]) -> Reply:
        """See `Host`."""
        return self._host.call(message)

    async def submit(self, message: Call[Reply]) -> Reply:
        """See `Host`."""
        match cast("Call[Any]", message):
            case ReadHttpRequest():
                return cast("Reply", self._http.request)
            case BeginHttpAnswer(status=status, headers=headers):
                return cast("Reply", self._http.begin(status, headers))
            case WriteHttpBody(data=data, last=last):
                return cast("Reply", await self._http.write(data, last=last))
            case _:
                return await self._host.submit(message)

    def post(self, message: Call[Any]) -> None:
        """See `Host`."""
        self._host.post(message)
