"""`pie run` on an engine of its own, in this process."""

import asyncio
import contextlib
import errno
import os
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pie_mlx.cli.engine.model_settings import requested_settings
from pie_mlx.cli.engine.modules import importing
from pie_mlx.cli.options import Common
from pie_mlx.cli.programs.installed import installed_program, local_store
from pie_mlx.cli.run.display import ReceivedFiles
from pie_mlx.cli.run.failures import report_failed
from pie_mlx.cli.run.frontend import Frontend, forwarding_input, frontend_for
from pie_mlx.cli.run.program_input import program_input
from pie_mlx.cli.run.recording.program_recorder import program_recorder
from pie_mlx.cli.run.request import RunRequest
from pie_mlx.cli.terminal.interrupts import Protect
from pie_mlx.cli.terminal.progress import progress_line
from pie_mlx.config import pie_home
from pie_mlx.config.schema import Config
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.events import DETAIL_KINDS, Event
from pie_mlx.runtime.configured import launch_limits, mcp_servers, worker_settings
from pie_mlx.runtime.execution.entry import Entry
from pie_mlx.runtime.execution.outcome import Failed, Outcome
from pie_mlx.runtime.execution.process import Process
from pie_mlx.runtime.program.parameters import Input
from pie_mlx.runtime.program.program import Program, find_program
from pie_mlx.runtime.store import ProgramStore, pack_program
from pie_mlx.runtime.worker.debug_relay import debug_listener
from pie_mlx.runtime.worker.frames.messages import Draws
from pie_mlx.system import login_name
from pie_mlx.telemetry.configured import content_details

if TYPE_CHECKING:
    from pie_mlx.runtime.engine import Engine
    from pie_mlx.runtime.recording.recorder import Recorder

Observers = Sequence[Callable[[Event], None]]
"""Called with every event of the engine."""


def prepared_local_run(request: RunRequest, common: Common, config: Config, observers: Observers) -> "LocalRun":
    """Everything that can be checked before an engine starts. Raises PieError and click.UsageError."""
    program = chosen_program(request, local_store(config.auth))
    value = program_input(request, program.manifest.parameters)
    settings = requested_settings(request.model, dummy=request.dummy, common=common)
    if request.files is not None:
        request.files.mkdir(parents=True, exist_ok=True)
    debugger = None if request.debug_port is None else debug_listener(request.debug_port)
    frontend = frontend_for(request, common)
    return LocalRun(program, value, settings, config, frontend, request, observers, common, debugger)


def own_engine(
    settings: EngineSettings,
    config: Config,
    observers: Observers,
    progress: Callable[[str], None],
    *,
    recorder: "Recorder | None" = None,
    traced: bool = False,
    same_hashes: bool = False,
) -> "Engine":
    """An engine of this process, with all details in its events if `traced`; not started yet. `same_hashes` order the
    sets of programs as in recordings."""
    # Loads MLX and the model libraries, so the command line is checked first.
    with importing():
        from pie_mlx.runtime.engine import Engine

    def notify(event: Event) -> None:
        for observer in observers:
            observer(event)

    runtime = config.runtime
    workers = worker_settings(runtime, pie_home(os.environ))
    return Engine(
        settings,
        recorder=recorder,
        isolation=runtime.isolation,
        workers=replace(workers, same_hashes=same_hashes or recorder is not None),
        mcp=mcp_servers(config.mcp),
        mcp_timeout_seconds=runtime.mcp_timeout_secs,
        launch_limits=launch_limits(runtime),
        resolve=partial(installed_program, local_store(config.auth)),
        progress=progress,
        on_event=notify if observers else None,
        details=DETAIL_KINDS if traced else content_details(config.telemetry),
        joins_traces=config.telemetry.enabled,
    )


def chosen_program(request: RunRequest, store: ProgramStore) -> Program:
    """An installed program, or the one at a path with its dependencies. Raises LaunchError."""
    if request.installed is not None:
        return installed_program(store, request.installed)
    if request.path.suffix == ".pie":
        source = pack_program(request.path)
        return store.unpack(source.payload, source.manifest_text)
    program = find_program(request.path, request.manifest)
    return store.resolved(program) if program.manifest.dependencies else program


@dataclass(frozen=True, slots=True)
class LocalRun:
    """One run of a program on an engine that starts and ends with it."""

    program: Program
    input: Input
    settings: EngineSettings
    config: Config
    frontend: Frontend
    request: RunRequest
    observers: Observers
    common: Common
    debugger: socket.socket | None = None
    """Where a debugger connects."""
    entry: Entry | None = None
    """How the program is executed, if not as usual."""
    draws: Draws | None = None
    """The draws of the recording from which the program goes on live."""

    async def run(self, protect: Protect) -> int:
        with progress_line(self.common) as (progress, loaded):
            traced = self.request.trace is not None
            async with (
                program_recorder(self.request.record, self.settings.model) as recorder,
                own_engine(
                    self.settings,
                    self.config,
                    self.observers,
                    progress,
                    recorder=recorder,
                    traced=traced,
                    same_hashes=self.draws is not None,
                ) as engine,
            ):
                protect()
                loaded()
                outcome = await self.outcome_on(engine)
        return self._report(outcome)

    async def run_on(self, engine: "Engine") -> int:
        """Run it on an engine that goes on."""
        return self._report(await self.outcome_on(engine))

    async def outcome_on(self, engine: "Engine") -> Outcome:
        with self.debugger or contextlib.nullcontext():
            return await self._outcome_of_launch(engine)

    async def _outcome_of_launch(self, engine: "Engine") -> Outcome:
        self._tell_of_debugger()
        process = await engine.launch(
            self.entry or self.program,
            self.input,
            username=login_name(),
            on_event=self.frontend.show,
            on_file=ReceivedFiles(self.request.files),
            capture_output=True,
            token_budget=self.request.token_budget,
            debugger=self.debugger,
            draws=self.draws,
        )
        async with forwarding_input(self.frontend, _LocalProcess(process)):
            return await _outcome(process, self.request.timeout_seconds)

    def _tell_of_debugger(self) -> None:
        if self.debugger is not None and not self.common.quiet:
            host, port = self.debugger.getsockname()
            print(f"pie: waiting for a debugger at {host}:{port}", file=sys.stderr, flush=True)

    def _report(self, outcome: Outcome) -> int:
        if not isinstance(outcome, Failed):
            return 0
        if isinstance(outcome.error, OSError) and outcome.error.errno in (errno.EPIPE, errno.ENOSPC):
            raise outcome.error  # our own output failed: a program writes in its own process
        return report_failed(f"program '{self.program.identity}'", outcome, self.common, _source(self.request))


def _source(request: RunRequest) -> Path | None:
    """The program as its author has it; None for an installed one."""
    return None if request.installed else request.path


@dataclass(frozen=True, slots=True)
class _LocalProcess:
    """A process of this interpreter's engine that receives what the user types."""

    process: Process

    async def send(self, message: str) -> None:
        self.process.send(message)

    async def close_session(self) -> None:
        self.process.close_session()


async def _outcome(process: Process, timeout_seconds: float | None) -> Outcome:
    try:
        async with asyncio.timeout(timeout_seconds):
            return await process.outcome()
    except TimeoutError:
        process.cancel(f"still running after {timeout_seconds:g} s")
        return await process.outcome()
    except asyncio.CancelledError:
        process.cancel()
        await process.outcome()
        raise
