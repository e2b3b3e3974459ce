"""Choose the engine for one use of `pie run`, and run the program on it."""

import contextlib
import dataclasses
import os
import sys
from collections.abc import Callable, Coroutine, Generator
from pathlib import Path
from typing import Any

import click
import msgspec

from pie_mlx.cli.engine.mcp_file import servers_in
from pie_mlx.cli.engine.model_settings import chosen_model_settings, requested_settings
from pie_mlx.cli.engine.recording import recording_in
from pie_mlx.cli.engine.reuse import Serving, reusable_engine
from pie_mlx.cli.engine.starting import await_starting, warn_of_unused_settings
from pie_mlx.cli.options import Common
from pie_mlx.cli.run.local import Observers, prepared_local_run
from pie_mlx.cli.run.recording.tracing import TraceRecorder, tracing_to
from pie_mlx.cli.run.request import RunRequest
from pie_mlx.cli.terminal.errors import INTERRUPTED, warn
from pie_mlx.cli.terminal.interrupts import Protect, run_interruptible
from pie_mlx.client.discovery import find_engine
from pie_mlx.config import load_config, pie_home
from pie_mlx.config.schema import Config, RuntimeConfig
from pie_mlx.errors import SessionClosedError
from pie_mlx.events import Event
from pie_mlx.telemetry.configured import telemetry_of

Run = Callable[[Protect], Coroutine[Any, Any, int]]


def run_request(request: RunRequest, common: Common) -> int:
    """Run the program and return the exit code. Raises PieError and click.UsageError before it starts."""
    serving = chosen_engine(request, common)
    address = None if serving is None else serving.address
    if serving is not None:
        request = dataclasses.replace(request, served_model=serving.model)
        warn_of_unused_settings(pie_home(os.environ), common)
    try:
        if address is not None and request.watch:
            from pie_mlx.cli.run.watching.rerun import watched_on

            return run_interruptible(watched_on(address, request, common))
        with tracing_to(request.trace) as recorder:
            if address is not None:
                from pie_mlx.cli.run.remote import run_on

                return run_on(address, request, common, recorder)
            return _run_here(request, common, recorder)
    except KeyboardInterrupt:
        return INTERRUPTED


def start_request(request: RunRequest, common: Common) -> int:
    """Start the program on the running engine, print its id and return the exit code. Raises SessionClosedError."""
    from pie_mlx.cli.run.detached import run_detached

    serving = None if request.needs_own_engine else chosen_engine(request, common)
    if serving is None:
        raise SessionClosedError(
            "--detach: the program runs on an engine that goes on, and none is used", hint="start one: pie serve -d"
        )
    warn_of_unused_settings(pie_home(os.environ), common)
    return run_detached(serving.address, dataclasses.replace(request, served_model=serving.model), common)


def _run_here(request: RunRequest, common: Common, recorder: TraceRecorder | None) -> int:
    """On an engine of its own. Raises KeyboardInterrupt."""
    config = permitting_config(request, common)
    with (
        telemetry_of(config.telemetry, warn) as telemetry,
        _observers(request.log, debug=common.debug) as observers,
    ):
        observers = observers if telemetry is None else [*observers, telemetry]
        if recorder is not None and request.port is None:  # with a port, its client records
            observers = [*observers, recorder.observe]
        if request.inline:
            from pie_mlx.cli.run.debugging.inline import run_inline

            return run_inline(prepared_local_run(request, common, config, observers))
        return run_interruptible(_prepared_own_run(request, common, config, observers, recorder))


def _prepared_own_run(
    request: RunRequest, common: Common, config: Config, observers: Observers, recorder: TraceRecorder | None
) -> Run:
    """The run on an engine of its own. Raises PieError and click.UsageError."""
    if request.watch:
        from pie_mlx.cli.run.watching.rerun import watched_here

        return watched_here(request, common, config, observers)
    if request.port is None:
        return prepared_local_run(request, common, config, observers).run
    from pie_mlx.cli.run.listening import ListeningRun
    from pie_mlx.cli.run.remote import prepared

    settings = requested_settings(request.model, dummy=request.dummy, common=common)
    return ListeningRun(prepared(request, common, recorder), settings, config, request.port, observers, common).run


def permitting_config(request: RunRequest, common: Common) -> Config:
    """The configuration with what the request permits and needs. Raises PieError."""
    config = load_config(common.config).config
    runtime = permitted(config.runtime, request.network_hosts, allow_files=request.allow_files)
    if request.inline or request.in_worker or request.debug_port is not None:
        runtime = msgspec.structs.replace(runtime, isolation="inline" if request.inline else "process")
    servers = [] if request.mcp is None else servers_in(request.mcp, os.environ)
    return msgspec.structs.replace(config, runtime=runtime, mcp=[*config.mcp, *servers])


@contextlib.contextmanager
def _observers(log: Path | None, *, debug: bool) -> Generator[Observers]:
    """Observers for `--log` and `--debug`. Raises click.UsageError and InvalidArgumentError."""
    printing = [_print_event] if debug else []
    with recording_in(log, "--log") as writer:
        yield printing if writer is None else [*printing, writer.write]


def chosen_engine(request: RunRequest, common: Common) -> Serving | None:
    """The running engine, with its model for the program; None where that needs an engine of its own, or another model.

    Raises click.UsageError where `--url` names an engine as well.
    """
    home = pie_home(os.environ)
    if not request.needs_own_engine and common.config is None:
        if not (common.url or os.environ.get("PIE_URL")):
            await_starting(home, common)
        if request.model is None:
            found = find_engine(common.url, os.environ, home)
            return None if found is None else Serving(found)
        if not common.url:
            settings = chosen_model_settings(request.model, dummy=False, models=load_config().config.model)
            return reusable_engine(request.model, settings, home, quiet=common.quiet)
    if common.url:
        raise click.UsageError(
            "--url names a running engine: --one-shot, --dummy, --model, --allow-fs, --allow-network, --port, --log, "
            "--record, --inline, --debug-port and --config start another one"
        )
    return None


def permitted(
    runtime: RuntimeConfig, network_hosts: tuple[str, ...] | None, *, allow_files: bool = False
) -> RuntimeConfig:
    """The configuration with `--allow-fs` and `--allow-network`, of which None changes nothing and () means the
    configured hosts."""
    if allow_files:
        runtime = msgspec.structs.replace(runtime, allow_fs=True)
    if network_hosts is None:
        return runtime
    hosts = list(network_hosts) or runtime.network_allowed_hosts
    return msgspec.structs.replace(runtime, allow_network=True, network_allowed_hosts=hosts)


def _print_event(event: Event) -> None:
    print(f"pie: {event}", file=sys.stderr)
