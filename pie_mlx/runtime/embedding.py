"""An engine inside this process, for scripts, notebooks and tests."""

import asyncio
import concurrent.futures
import dataclasses
import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pie_mlx.engine.engine import EngineCore
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.errors import EngineStoppedError, InvalidArgumentError
from pie_mlx.events import Event, PageUsage, ProcessEvent, ProcessLaunched
from pie_mlx.runtime.entry import Entry, Main, function_entry, program_entry
from pie_mlx.runtime.findings import nearest
from pie_mlx.runtime.inputs import fitting_input, plain_input
from pie_mlx.runtime.listener import Listener
from pie_mlx.runtime.local_session import LocalSession
from pie_mlx.runtime.outlet import Outlet
from pie_mlx.runtime.process import Process
from pie_mlx.runtime.program import Program, find_program

Launchable = Main | Program | str | Path
"""An `async def main(input)`, a program, or the path of a Python file or of a directory with main.py."""


class Engine:
    """One model and its pages, shared by every program run on it.

        async with Engine("pie-tiny") as engine:
            answer = await engine.run(main, {"prompt": "..."})

    `model` is a directory, a repo id or `pie-tiny`, and the keywords are the other fields of `EngineSettings`; or it is
    an EngineSettings, changed by the keywords. `on_event` is called with every event, in order, on the loop that
    entered the engine. Raises InvalidArgumentError for an unknown keyword; entering raises ModelError and its kin.
    """

    def __init__(
        self,
        model: str | Path | EngineSettings = "pie-tiny",
        *,
        on_event: Callable[[Event], None] | None = None,
        progress: Callable[[str], None] | None = None,
        **settings: Any,
    ) -> None:
        self._settings = _engine_settings(model, settings)
        self._on_event = on_event
        self._progress = progress or _ignore
        self._core: EngineCore | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._processes: set[Process] = set()

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        core = EngineCore(self._settings, emit=self._emit, progress=self._progress)
        await core.start()
        self._core = core
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Cancel what is running, release everything, free the device. Idempotent."""
        running = list(self._processes)
        for process in running:
            process.cancel("Engine stopped")
        await asyncio.gather(*(process.outcome() for process in running))
        if self._core is not None:
            await self._core.stop()

    async def run(self, program: Launchable, input: Any = None, **options: Any) -> Any:
        """Run a program to its end and give back what it returned, as JSON says it.

        `options` are those of `launch`. Nothing can be sent to the program, so one that waits for a message gets
        SessionClosedError. Cancelling cancels the program. Raises the exception that ended it.
        """
        process = await self.launch(program, input, **options)
        process.close_session()
        try:
            return await process.result()
        except asyncio.CancelledError:
            process.cancel()
            await process.outcome()
            raise

    async def launch(
        self,
        program: Launchable,
        input: Any = None,
        *,
        on_message: Callable[[Any], None] | None = None,
        on_file: Callable[[bytes, str], None] | None = None,
        on_event: Callable[[ProcessEvent], None] | None = None,
        capture_output: bool = False,
        username: str = "local",
        token_budget: int | None = None,
    ) -> Process:
        """Start a program; it runs beside the caller.

        `on_message` gets each message (a str, or what its JSON says), `on_file` the bytes and the name of each file,
        `on_event` every event of the process; all on the caller's loop, in order. With `capture_output` what the
        program prints becomes events, otherwise it goes to this interpreter's own streams. `token_budget` bounds the
        tokens it may run. Raises LaunchError, and InvalidArgumentError for a budget below 1.
        """
        entry = _entry(program)
        value = fitting_input(entry.parameters, plain_input(input), entry.identity)
        listener = Listener(on_message, on_file, on_event, self._on_event)
        outlet = Outlet(asyncio.get_running_loop(), listener)
        session = LocalSession(outlet)
        host = self._running_core().open_process(
            username=username, program=entry.identity, session=session, token_budget=token_budget
        )
        process = Process(host.process_id, session, outlet)
        self._processes.add(process)
        outlet.deliver(ProcessLaunched(process.id, username, entry.identity, token_budget))
        write = outlet.write if capture_output else None
        process.start(partial(entry.run, value), host, release=partial(self._release, process), write=write)
        return process

    async def page_usage(self) -> PageUsage:
        """The pages of the pool at this moment. Raises EngineStoppedError."""
        return await self._running_core().page_usage()

    def _running_core(self) -> EngineCore:
        if self._core is None:
            raise EngineStoppedError("engine: it is not running", hint="enter it with 'async with'")
        return self._core

    async def _release(self, process: Process) -> None:
        await self._running_core().close_process(process.id)
        self._processes.discard(process)

    def _emit(self, event: Event) -> None:
        """Called on the engine's loop."""
        if self._on_event is not None and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._on_event, event)


def run(program: Launchable, input: Any = None, *, model: str | Path = "pie-tiny", **options: Any) -> Any:
    """Start an engine, run one program, stop the engine, and give back what the program returned.

    `options` are those of `Engine` and of `Engine.launch`. Works inside a running loop too (notebooks): the engine then
    gets a loop on a thread of its own.
    """
    work = partial(_run_once, program, input, model, options)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    with concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="pie-run") as pool:
        return pool.submit(lambda: asyncio.run(work())).result()


async def _run_once(program: Launchable, input: Any, model: str | Path, options: dict[str, Any]) -> Any:
    launching = {name: options[name] for name in options if name in _LAUNCH_OPTIONS}
    starting = {name: options[name] for name in options if name not in _LAUNCH_OPTIONS}
    async with Engine(model, **starting) as engine:
        return await engine.run(program, input, **launching)


_LAUNCH_OPTIONS = frozenset(inspect.signature(Engine.launch).parameters) - {"self", "program", "input", "on_event"}


def _entry(program: Launchable) -> Entry:
    if isinstance(program, str | Path):
        return program_entry(find_program(Path(program)))
    return program_entry(program) if isinstance(program, Program) else function_entry(program)


def _engine_settings(model: str | Path | EngineSettings, settings: dict[str, Any]) -> EngineSettings:
    known = [field.name for field in dataclasses.fields(EngineSettings) if field.name != "model"]
    for name in settings:
        if name not in known:
            raise InvalidArgumentError(
                f"engine setting {name!r}: unknown{nearest(name, known)}", hint=f"known settings: {', '.join(known)}"
            )
    base = model if isinstance(model, EngineSettings) else EngineSettings(str(model))
    return dataclasses.replace(base, **settings)


def _ignore(line: str) -> None:
    del line
