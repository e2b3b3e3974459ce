"""Run the engine of `pie serve`."""

import asyncio
import contextlib
import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pie_mlx.cli.config.active import active_config, home
from pie_mlx.cli.engine.model_settings import model_name, served_settings
from pie_mlx.cli.engine.modules import importing
from pie_mlx.cli.engine.recording import Recording, recording_in
from pie_mlx.cli.engine.reuse import served_source
from pie_mlx.cli.options import Common
from pie_mlx.cli.serve.log_file import begin_anew_if_long
from pie_mlx.cli.terminal.errors import INTERRUPTED, report_failure, warn
from pie_mlx.cli.terminal.progress import progress_line
from pie_mlx.cli.terminal.queued_errors import queued_errors
from pie_mlx.cli.terminal.signals import end_at_once, ending_signals
from pie_mlx.cli.terminal.text import without_controls
from pie_mlx.config import setting_variables
from pie_mlx.config.rules import is_loopback, listening_problem
from pie_mlx.config.schema import Config, EngineConfig
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.errors import ConfigError, ModelLoadError, ModelNotFoundError
from pie_mlx.events import Event, ProcessOutput
from pie_mlx.login import fingerprint
from pie_mlx.open_files import LEAST, PLENTY, WANTED, raise_limit
from pie_mlx.telemetry.configured import telemetry_of

if TYPE_CHECKING:
    from pie_mlx.server import Server

FLUSH_SECONDS = 1.0
"""How much of a recording may be lost when the engine is killed."""


@dataclass(frozen=True, slots=True)
class ServeRequest:
    """One use of `pie serve`; None leaves a value to the configuration."""

    host: str | None
    port: int | None
    no_auth: bool
    model: tuple[str, ...]
    dummy: bool
    record: Path | None
    monitor: bool
    no_snapshot: bool


def serve(request: ServeRequest, common: Common) -> int:
    """Serve until a signal and return the exit code. Raises PieError when it cannot start."""
    if common.url:
        raise click.UsageError("--url names a running engine: give --host and --port")
    if request.no_snapshot and not common.quiet:
        print("pie: warning: --no-snapshot has no effect: there are no interpreter snapshots", file=sys.stderr)
    config = _config(request, active_config(common).config)
    config = _within(config, raise_limit(), common)
    settings = served_settings(request.model, dummy=request.dummy, models=config.model)
    with asyncio.Runner() as runner:
        return runner.run(_Serving(config, settings, request.record, request.monitor, common).run())


def _within(config: Config, files: int, common: Common) -> Config:
    """The configuration, reduced to what `files` open files allow. Raises ConfigError for too few to work at all."""
    import msgspec

    if files >= PLENTY:
        return config
    hint = f"raise it with 'ulimit -n {WANTED}', or as the administrator where that is refused"
    if files < LEAST:
        raise ConfigError(f"serve: at most {files} files may be open, and an engine needs {LEAST}", hint=hint)
    connections = min(config.server.max_connections, files // 4)
    if not common.quiet:
        print(
            f"pie: warning: at most {files} files may be open, enough for {connections} clients and about "
            f"{files // 12} programs at once: {hint}",
            file=sys.stderr,
        )
    return msgspec.structs.replace(
        config,
        server=msgspec.structs.replace(config.server, max_connections=connections),
        runtime=msgspec.structs.replace(config.runtime, warm_workers=min(config.runtime.warm_workers, files // 128)),
    )


def _config(request: ServeRequest, config: Config) -> Config:
    """The configuration with the flags of the command line. Raises ConfigError."""
    import msgspec

    change = msgspec.structs.replace
    server = config.server
    if request.host is not None:
        server = change(server, host=request.host)
    if request.port is not None:
        server = change(server, port=request.port)
    auth = change(config.auth, enabled=False) if request.no_auth else config.auth
    if problem := listening_problem(server.host, authenticated=auth.enabled):
        raise ConfigError(problem, hint="'pie auth add USER < key.pub' adds a key")
    return change(config, server=server, auth=auth)


@dataclass(frozen=True, slots=True)
class _Serving:
    config: Config
    settings: Sequence[EngineSettings]
    record: Path | None
    monitor: bool
    common: Common
    watched: list[bool] = field(default_factory=list[bool])

    async def run(self) -> int:
        """Raises click.UsageError and PieError."""
        with (
            # The loop prints what programs write, and must not wait for who reads it.
            queued_errors(partial(begin_anew_if_long, home())),
            telemetry_of(self.config.telemetry, warn) as telemetry,
            recording_in(self.record, "--record or PIE_LOG") as recording,
        ):
            return await self._serve(recording, telemetry)

    async def _serve(self, recording: Recording | None, telemetry: Callable[[Event], None] | None) -> int:
        with progress_line(self.common) as (progress, loaded):
            # Loads MLX and the model libraries, so the command line is checked first.
            with importing():
                from pie_mlx.server import Server
                from pie_mlx.server.configured import engine_maker, registry_limits, server_settings, user_keys

                # Modules never die: keep the collector from walking them during a tick. The models may be unloaded.
                gc.freeze()
            server = Server(
                server_settings(self.config),
                engine_maker(self.config, self.settings, home(), progress=progress),
                home=home(),
                model=model_name(self.settings[0]),
                source=served_source(self.settings[0]),
                others={one.called: served_source(one) for one in self.settings[1:]},
                variables=setting_variables(os.environ),
                keys=user_keys(self.config, home()),
                limits=registry_limits(self.config),
                observers=self._observers(recording, telemetry),
            )
            self._convert(progress)
            overdue = asyncio.get_running_loop().call_later(self._ready_seconds(), self._give_up)
            async with server:
                overdue.cancel()
                loaded()
                stop = _stop_signal()
                print(await self._banner(server), flush=True)
                flushing = asyncio.create_task(_flush(recording))
                if self.monitor:
                    await self._show_monitor(stop)
                number = await stop
                if not self.common.quiet:
                    print("pie: stopping", file=sys.stderr)
                flushing.cancel()
        return INTERRUPTED if number == signal.SIGINT else 0

    def _convert(self, progress: Callable[[str], None]) -> None:
        """Convert GGUF files, which may take longer than a start may. What cannot be found, the engine reports."""
        from pie_mlx.engine.model.loading.sources import find_model

        for settings in self.settings:
            for model, revision in {settings.draft_model: None, settings.model: settings.revision}.items():
                with contextlib.suppress(ModelNotFoundError):
                    if model is not None and not settings.dummy:
                        find_model(model, allow_download=False, progress=progress, revision=revision)

    def _ready_seconds(self) -> float:
        models = self.config.model
        return models[0].engine.ready_timeout_s if models else EngineConfig().ready_timeout_s

    def _give_up(self) -> None:
        """Called when the start takes too long. A load cannot be interrupted, so this does not wait for it."""
        error = ModelLoadError(
            f"serve: the engine was not ready within {self._ready_seconds():g} s",
            hint="raise [model.engine] ready_timeout_s",
        )
        code = report_failure(error, self.common)
        sys.stderr.close()
        os._exit(code)

    def _observers(
        self, recording: Recording | None, telemetry: Callable[[Event], None] | None
    ) -> Sequence[Callable[[Event], None]]:
        recorders = [*([] if recording is None else [recording.write]), *([] if telemetry is None else [telemetry])]
        found: list[Callable[[Event], None]] = []
        if self.common.debug or self.config.server.verbose:
            found.append(_print_event)
        elif not self.common.quiet:
            found.append(_print_errors)
        # Nothing else prints while the monitor has the terminal.
        return [*recorders, *(partial(self._unless_watched, observer) for observer in found)]

    def _unless_watched(self, observer: Callable[[Event], None], event: Event) -> None:
        if not self.watched:
            observer(event)

    async def _show_monitor(self, stop: "asyncio.Future[int]") -> None:
        """Run the monitor in a process of its own, until the user leaves it or the engine stops."""
        self.watched.append(True)
        monitor = await asyncio.create_subprocess_exec(sys.executable, "-m", "pie_mlx", "top")
        left = asyncio.create_task(monitor.wait())
        await asyncio.wait({left, stop}, return_when=asyncio.FIRST_COMPLETED)
        if not left.done():
            monitor.terminate()
            await left
        self.watched.clear()

    async def _banner(self, server: "Server") -> str:
        facts = await self._facts(server)
        if self.common.json:
            return json.dumps({"url": server.url, "pid": os.getpid(), **facts})
        ready = f"Server ready at {server.url}"
        if self.common.quiet:
            return ready
        lines = [f"{name:<15} {value}" for name, value in {"address": self._address(server), **facts}.items()]
        if self.common.debug:
            lines.append(f"{'token':<15} {server.token}")
        return "\n".join([_box(lines), *self._warnings(server), ready])

    def _address(self, server: "Server") -> str:
        host = self.config.server.host
        return server.url if is_loopback(host) else f"{server.url}, listening on {host}"

    async def _facts(self, server: "Server") -> dict[str, Any]:
        from pie_mlx.backends import current_backend

        runtime, engine = self.config.runtime, server.service.engine
        pages = (await engine.page_usage()).total
        has_template = all(await engine.consult_all(lambda services: services.model_info.has_chat_template))
        return {
            "openai": f"{server.url.replace('ws', 'http', 1)}/v1",
            "model": ", ".join(model_name(one) for one in self.settings),
            **({} if has_template else {"chat_template": "none, chats are written as ChatML"}),
            "device": current_backend().name,
            "pages": f"{pages} of {self.settings[0].page_size} tokens",
            "home": str(home()),
            "authentication": "on" if self.config.auth.enabled else "off",
            **({} if server.engine_key is None else {"engine_key": fingerprint(server.engine_key)}),
            "sandbox": f"{runtime.sandbox}, one process per program",
        }

    def _warnings(self, server: "Server") -> list[str]:
        found = [
            f"{identity} is not of the user who owns that name: others run it by its full name only;"
            f" 'pie remove {identity}' removes it."
            for identity in (server.service.programs.contested() if self.config.auth.enabled else ())
        ]
        if not self.config.auth.enabled:
            found.append("Authentication is off: every account of this machine can connect under any user name.")
        if not is_loopback(self.config.server.host):
            found.append(
                "There is no TLS: others on the network can read everything. Use a tunnel (ssh -L) where that matters."
            )
        return found


def _stop_signal() -> "asyncio.Future[int]":
    """The first ending signal; a second one ends the command at once."""
    loop = asyncio.get_running_loop()
    first: asyncio.Future[int] = loop.create_future()

    def arrived(number: int) -> None:
        if first.done():
            end_at_once(number, None)
        first.set_result(number)

    for number in ending_signals():
        loop.add_signal_handler(number, arrived, number)
    return first


async def _flush(recording: Recording | None) -> None:
    while recording is not None:
        await asyncio.sleep(FLUSH_SECONDS)
        recording.flush()


def _print_errors(event: Event) -> None:
    """Standard error of programs, each line with the beginning of the process id."""
    if isinstance(event, ProcessOutput) and event.stream == "stderr":
        for line in without_controls(event.text).splitlines():
            print(f"[{event.process[:8]}] {line}", file=sys.stderr)


def _print_event(event: Event) -> None:
    print(f"pie: {without_controls(str(event))}", file=sys.stderr)


def _box(lines: Sequence[str]) -> str:
    width = max(map(len, lines))
    edge = "─" * (width + 2)
    return "\n".join([f"╭{edge}╮", *(f"│ {line.ljust(width)} │" for line in lines), f"╰{edge}╯"])
