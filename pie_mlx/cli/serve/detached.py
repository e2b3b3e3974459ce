"""`pie serve -d`: an engine that stays when this command has ended."""

import json
import os
from pathlib import Path

from pie_mlx.cli.config.active import active_config, home
from pie_mlx.cli.engine.spawning import await_engine, end_engine, spawn_engine
from pie_mlx.cli.options import Common
from pie_mlx.cli.serve.log_file import APPENDING, LOG_NAME
from pie_mlx.cli.serve.server import ServeRequest
from pie_mlx.cli.terminal.errors import INTERRUPTED
from pie_mlx.client.discovery import is_home_in_use
from pie_mlx.errors import ConfigError
from pie_mlx.files import disk_hint, make_own


def serve_detached(request: ServeRequest, common: Common) -> int:
    """Start the engine, wait until clients can use it, print where and return the exit code. Raises ConfigError."""
    active_config(common)
    if is_home_in_use(home()):
        raise ConfigError(f"{home()}: an engine already runs with it", hint="use it, or end it with 'pie stop'")
    log = home() / LOG_NAME
    try:
        make_own(home())
        descriptor = os.open(log, APPENDING | os.O_TRUNC, 0o600)
    except OSError as error:
        raise ConfigError(f"{log}: {error.strerror}", hint=disk_hint(error, "check its permissions")) from None
    with open(descriptor, "r+b") as output:
        process = spawn_engine(_words(request, common), output, common)
        try:
            engine = await_engine(process, output, common)
        except KeyboardInterrupt:
            end_engine(process)
            return INTERRUPTED
    process.returncode = 0  # it outlives this command, which never waits for it
    _print(engine.url, engine.pid, log, common)
    return 0


def _print(url: str, pid: int, log: Path, common: Common) -> None:
    if common.json:
        print(json.dumps({"url": url, "pid": pid, "log": str(log)}))
    elif common.quiet:
        print(url)
    else:
        print(f"Server ready at {url}, process {pid}\nIt writes to {log}; 'pie stop' ends it.")


def _words(request: ServeRequest, common: Common) -> list[str]:
    named = {"--host": request.host, "--port": request.port, "--record": request.record}
    flags = {"--no-auth": request.no_auth, "--dummy": request.dummy, "--debug": common.debug, "--quiet": common.quiet}
    given = [word for name, value in named.items() if value is not None for word in (name, str(value))]
    models = [word for model in request.model for word in ("--model", model)]
    return [*given, *models, *(name for name, value in flags.items() if value)]
