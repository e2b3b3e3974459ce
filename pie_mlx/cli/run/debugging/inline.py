"""`pie run --inline`: the program on the main thread of this command, and its engine beside it on others.

Only the main thread can have a debugger that Ctrl-C reaches.
"""

import asyncio
import concurrent.futures
import queue
import signal
import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from types import FrameType

from pie_mlx.calls import Host
from pie_mlx.cli.run.debugging.prompt import TerminalDebugger, breakpoints_for
from pie_mlx.cli.run.local import LocalRun
from pie_mlx.cli.terminal.errors import INTERRUPTED
from pie_mlx.cli.terminal.signals import end_at_once, handled_by
from pie_mlx.runtime.execution.entry import Entry, program_entry
from pie_mlx.runtime.execution.outcome import Outcome
from pie_mlx.runtime.execution.process import CANCEL_GRACE_SECONDS
from pie_mlx.runtime.execution.program_run import ProgramRun

Programs = queue.SimpleQueue[ProgramRun | None]
"""The program, once it may begin; None if the run has ended."""


def run_inline(run: LocalRun) -> int:
    """Run the program on this thread, which must be the main one, and return the exit code."""
    programs: Programs = queue.SimpleQueue()
    serving = _Serving(replace(run, entry=_entry(run, programs)), programs)
    thread = threading.Thread(target=serving.run, name="pie-inline", daemon=True)
    thread.start()
    program = programs.get()
    if program is not None:
        ending = _Ending(serving, program)
        debugger = TerminalDebugger(ending.begin)
        with handled_by(_Interruption(ending, debugger)), breakpoints_for(debugger):
            program.run(nullcontext())
        serving.program_ended.set()
    return serving.code.result()


def _entry(run: LocalRun, programs: Programs) -> Entry:
    def executor(body: Callable[[], object], host: Host, report: Callable[[Outcome], None]) -> "_OnMainThread":
        return _OnMainThread(ProgramRun(body, host, report), programs)

    return replace(program_entry(run.program), executor=executor)


@dataclass(frozen=True, slots=True)
class _OnMainThread:
    """The executor that hands its program to the main thread."""

    program: ProgramRun
    programs: Programs

    def start(self, begun: Callable[[], None]) -> None:
        self.programs.put(self.program)
        begun()

    def cancel(self, reason: str) -> None:
        self.program.cancel(reason)

    def kill(self) -> None:
        """No effect: see `_Serving.run`."""


class _Serving:
    """The engine and the launch, on a thread of their own."""

    def __init__(self, launch: LocalRun, programs: Programs) -> None:
        self.code = concurrent.futures.Future[int]()
        self.program_ended = threading.Event()
        self.is_interrupted = False
        self._launch = launch
        self._programs = programs
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[int] | None = None

    def run(self) -> None:
        try:
            self.code.set_result(asyncio.run(self._main()))
        except asyncio.CancelledError:
            self.code.set_result(INTERRUPTED)
        except BaseException as error:
            self.code.set_exception(error)
        finally:
            self._programs.put(None)
            if self.is_interrupted and not self.program_ended.wait(CANCEL_GRACE_SECONDS):
                end_at_once(0, None)

    def interrupt(self) -> None:
        """From any thread."""
        self.is_interrupted = True
        if self._loop is not None and self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)

    async def _main(self) -> int:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        return await self._launch.run(lambda: None)


@dataclass(frozen=True, slots=True)
class _Ending:
    """The end of a program before its own."""

    serving: _Serving
    program: ProgramRun

    def begin(self) -> None:
        self.program.cancel("interrupted")  # first: then what quitting the debugger raises is no failure
        self.serving.interrupt()


@dataclass(frozen=True, slots=True)
class _Interruption:
    """The first signal ends the program, the second one everything. At its prompt the debugger takes Ctrl-C."""

    ending: _Ending
    debugger: TerminalDebugger

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.debugger.is_asking and number == signal.SIGINT:
            raise KeyboardInterrupt
        if self.ending.serving.is_interrupted:
            end_at_once(number, frame)
        self.ending.begin()
