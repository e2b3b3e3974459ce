"""What `pie run` does once its command line is understood."""

import asyncio
import contextlib
import errno
import os
import sys
from collections.abc import Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from pie_mlx.cli.configuration import active_config
from pie_mlx.cli.display import ReceivedFiles
from pie_mlx.cli.failures import report_failed
from pie_mlx.cli.folding import POSITIONAL, fold
from pie_mlx.cli.front import Front, front_of, talking
from pie_mlx.cli.interrupts import Protect, run_interruptible
from pie_mlx.cli.naming import installed_program, local_store
from pie_mlx.cli.options import Common
from pie_mlx.cli.recording import recording_in
from pie_mlx.cli.reporting import INTERRUPTED
from pie_mlx.cli.run import RunRequest
from pie_mlx.cli.sharing import engine_with
from pie_mlx.client.discovery import Address, find_engine
from pie_mlx.config import ModelConfig, load_config, pie_home
from pie_mlx.config.loading import last_part
from pie_mlx.config.schema import Config, RuntimeConfig
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.errors import InvalidArgumentError, LaunchError
from pie_mlx.events import Event
from pie_mlx.runtime.configured import engine_settings, launch_limits, mcp_servers, worker_settings
from pie_mlx.runtime.execution.outcome import Failed, Outcome
from pie_mlx.runtime.execution.process import Process
from pie_mlx.runtime.program.inputs import parse_input
from pie_mlx.runtime.program.parameters import Input, Parameters
from pie_mlx.runtime.program.program import Program, find_program
from pie_mlx.runtime.store import ProgramStore, pack_program


def run_request(request: RunRequest, common: Common) -> int:
    """Run the program and answer the exit code. Raises PieError and click.UsageError before it starts."""
    address = chosen_engine(request, common)
    if address is not None:
        from pie_mlx.cli.remote_run import run_on

        return run_on(address, request, common)
    prepare = _prepared_launch if request.port is None else _prepared_listening
    with _observers(request.log, debug=common.debug) as observers:
        try:
            return run_interruptible(prepare(request, common, observers))
        except KeyboardInterrupt:
            return INTERRUPTED


Observers = Sequence[Callable[[Event], None]]
"""Those that are told every event of the engine."""

Run = Callable[[Protect], Coroutine[Any, Any, int]]


def _prepared_launch(request: RunRequest, common: Common, observers: Observers) -> Run:
    """Raises PieError and click.UsageError."""
    config = _permitting_config(request, common)
    program = chosen_program(request, local_store(config.auth))
    value = program_input(request, program.manifest.parameters)
    settings = chosen_settings(request, common)
    if request.files is not None:
        request.files.mkdir(parents=True, exist_ok=True)
    front = front_of(request, common)
    return _Launch(program, value, settings, config, front, request, observers, common).run


def _prepared_listening(request: RunRequest, common: Common, observers: Observers) -> Run:
    """Raises PieError and click.UsageError."""
    from pie_mlx.cli.listening_run import ListeningRun
    from pie_mlx.cli.remote_run import prepared

    settings, config = chosen_settings(request, common), _permitting_config(request, common)
    return ListeningRun(prepared(request, common), settings, config, request.port or 0, observers, common).run


def _permitting_config(request: RunRequest, common: Common) -> Config:
    config = load_config(common.config).config
    runtime = permitted(config.runtime, request.network_hosts, allow_files=request.allow_files)
    return msgspec.structs.replace(config, runtime=runtime)


@contextlib.contextmanager
def _observers(log: Path | None, *, debug: bool) -> Generator[Observers]:
    """The file of `--log`, and with `--debug` the terminal. Raises click.UsageError and InvalidArgumentError."""
    printing = [_print_event] if debug else []
    with recording_in(log, "--log") as writer:
        yield printing if writer is None else [*printing, writer.write]


def chosen_engine(request: RunRequest, common: Common) -> Address | None:
    """The engine that runs, unless one of its own is asked for, or another model. Raises click.UsageError for both."""
    home = pie_home(os.environ)
    if not request.private and common.config is None:
        if request.model is None:
            return find_engine(common.url, os.environ, home)
        if not common.url:
            settings = chosen_model_settings(request.model, dummy=False, models=load_config().config.model)
            return engine_with(request.model, settings, home, quiet=common.quiet)
    if common.url:
        raise click.UsageError(
            "--url names an engine that runs: --one-shot, --dummy, --model, --allow-fs, --allow-network, --port, --log "
            "and --config start another one"
        )
    return None


def chosen_program(request: RunRequest, store: ProgramStore) -> Program:
    """An installed program, or the one at a path with its dependencies. Raises LaunchError."""
    if request.installed is not None:
        return installed_program(store, request.installed)
    if request.path.suffix == ".pie":
        source = pack_program(request.path)
        return store.unpack(source.payload, source.manifest_text)
    program = find_program(request.path, request.manifest)
    return store.resolved(program) if program.manifest.dependencies else program


def program_input(request: RunRequest, parameters: Parameters) -> Input:
    """The input of the command line, checked. Raises click.UsageError that shows the parameters."""
    try:
        value = parse_input(request.input) if request.input is not None else fold(request.words, parameters)
    except (InvalidArgumentError, LaunchError) as error:
        raise _misfit([error.message], parameters) from None
    if problems := [_readable(problem, value) for problem in parameters.problems(value)]:
        raise _misfit(problems, parameters)
    return value


def chosen_settings(request: RunRequest, common: Common) -> EngineSettings:
    """Settings of the configured model, or of another one named by `--model`. Raises ConfigError."""
    return chosen_model_settings(request.model, dummy=request.dummy, models=active_config(common).config.model)


def chosen_model_settings(name: str | None, *, dummy: bool, models: list[ModelConfig]) -> EngineSettings:
    """Settings of the configured model of that name, or of another model; None is the first one."""
    settings = engine_settings(_chosen(models, name), pie_home(os.environ))
    if name is not None and name not in [model.name for model in models]:
        is_directory = Path(name).expanduser().is_dir()
        settings = replace(settings, model=name, name=last_part(name) if is_directory else None)
    return replace(settings, dummy=True) if dummy else settings


def model_name(settings: EngineSettings) -> str:
    """What clients are told that the model is called."""
    return settings.name or ("dummy" if settings.dummy else settings.model)


def permitted(
    runtime: RuntimeConfig, network_hosts: tuple[str, ...] | None, *, allow_files: bool = False
) -> RuntimeConfig:
    """With `--allow-fs`, and the hosts of `--allow-network`: None is as configured, () the hosts that are."""
    if allow_files:
        runtime = msgspec.structs.replace(runtime, allow_fs=True)
    if network_hosts is None:
        return runtime
    hosts = list(network_hosts) or runtime.network_allowed_hosts
    return msgspec.structs.replace(runtime, allow_network=True, network_allowed_hosts=hosts)


def _chosen(models: list[ModelConfig], name: str | None) -> ModelConfig:
    return next((model for model in models if model.name == name), models[0])


@dataclass(frozen=True, slots=True)
class _Launch:
    """Everything decided before an engine is started."""

    program: Program
    input: Input
    settings: EngineSettings
    config: Config
    front: Front
    request: RunRequest
    observers: Observers
    common: Common

    async def run(self, protect: Protect) -> int:
        with progress_line(self.common) as (progress, loaded):
            # Brings in MLX and the model libraries: not before the command line is known to hold.
            from pie_mlx.runtime.engine import Engine
            from pie_mlx.server.transport.peers import login_name

            runtime = self.config.runtime
            async with Engine(
                self.settings,
                isolation=runtime.isolation,
                workers=worker_settings(runtime, pie_home(os.environ)),
                mcp=mcp_servers(self.config.mcp),
                mcp_timeout_seconds=runtime.mcp_timeout_secs,
                launch_limits=launch_limits(runtime),
                resolve=partial(installed_program, local_store(self.config.auth)),
                progress=progress,
                on_event=self._tell if self.observers else None,
            ) as engine:
                protect()
                loaded()
                process = await engine.launch(
                    self.program,
                    self.input,
                    username=login_name(),
                    on_event=self.front.show,
                    on_file=ReceivedFiles(self.request.files),
                    capture_output=True,
                    token_budget=self.request.token_budget,
                )
                async with talking(self.front, _Local(process)):
                    outcome = await _outcome(process, self.request.timeout_seconds)
        return self._report(outcome)

    def _tell(self, event: Event) -> None:
        for observer in self.observers:
            observer(event)

    def _report(self, outcome: Outcome) -> int:
        if not isinstance(outcome, Failed):
            return 0
        if isinstance(outcome.error, OSError) and outcome.error.errno in (errno.EPIPE, errno.ENOSPC):
            raise outcome.error  # of our own output: a program's is in its own process
        return report_failed(f"program '{self.program.identity}'", outcome, self.common)


@dataclass(frozen=True, slots=True)
class _Local:
    """A process of this interpreter's engine, as one that is talked to."""

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


@contextlib.contextmanager
def progress_line(common: Common) -> Generator[tuple[Callable[[str], None], Callable[[], None]]]:
    """A line on the terminal while the model loads: what updates it, and what takes it away."""
    if common.quiet or common.json or not sys.stderr.isatty():
        yield _ignore, lambda: None
        return
    from rich.console import Console

    status = Console(stderr=True, no_color=common.no_color or None).status("starting")
    with status:
        yield status.update, status.stop


def _ignore(line: str) -> None:
    del line


def _print_event(event: Event) -> None:
    print(f"pie: {event}", file=sys.stderr)


def _readable(problem: str, value: Input) -> str:
    if problem.startswith(f"unknown parameter '{POSITIONAL}'"):
        return f"unexpected words {value[POSITIONAL]}: parameters are given as --name value"
    return problem


def _misfit(problems: list[str], parameters: Parameters) -> click.UsageError:
    table = "".join(f"\n     {line}" for line in parameters.table())
    return click.UsageError("; ".join(problems) + (f"\n     parameters:{table}" if table else ""))
