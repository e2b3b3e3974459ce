"""What `pie stop` does."""

import json
import os
import signal
import time
from pathlib import Path

import click

from pie_mlx.cli.config.active import home
from pie_mlx.cli.engine.connection import with_client
from pie_mlx.cli.options import Common
from pie_mlx.cli.terminal.confirm import confirm
from pie_mlx.client.discovery import LocalEngine, is_home_in_use, is_listening, local_engine
from pie_mlx.errors import AuthError, ProcessError, SessionClosedError
from pie_mlx.plural import plural

END_SECONDS = 60.0
"""How long it may take to end; by default the engine gives its programs and connections 5 seconds each."""
POLL_SECONDS = 0.05


def stop(common: Common, *, yes: bool) -> None:
    """Raises SessionClosedError when none runs, AuthError for another user's, ProcessError when it does not end."""
    if common.url or os.environ.get("PIE_URL"):
        raise click.UsageError("it ends the engine of this machine: leave --url out, and PIE_URL")
    engine = _engine(home())
    if not yes:
        _ask(common)
    _end(engine)
    _wait(home(), engine)
    if common.json:
        print(json.dumps({"url": engine.url, "pid": engine.pid}))
    elif not common.quiet:
        print(f"the engine at {engine.url} has ended")


def _engine(home: Path) -> LocalEngine:
    engine = local_engine(home)
    if engine is not None:
        return engine
    if is_home_in_use(home):
        raise SessionClosedError(f"the engine on {home} is starting or ending", hint="try it again in a moment")
    raise SessionClosedError(f"no engine is running on {home}", hint="there is nothing to stop; 'pie serve' starts one")


def _ask(common: Common) -> None:
    count = len(with_client(common, lambda client: client.processes()))
    if count:
        what = plural(count, "program runs on it and ends", "programs run on it and end")
        confirm(f"{what} with the engine. Stop it?", refusal="the engine goes on", yes=False)


def _end(engine: LocalEngine) -> None:
    if not is_listening(engine):
        raise ProcessError(
            f"process {engine.pid}: it is not the one that listens at {engine.socket}",
            hint="end 'pie serve' where it was started",
        )
    try:
        os.kill(engine.pid, signal.SIGTERM)
    except PermissionError:
        raise AuthError(f"process {engine.pid}: it is another user's", hint="only that user can stop it") from None
    except ProcessLookupError:
        return


def _wait(home: Path, engine: LocalEngine) -> None:
    """Wait until the engine has released its home directory. Raises ProcessError."""
    last = time.monotonic() + END_SECONDS
    while is_home_in_use(home):
        if time.monotonic() > last:
            raise ProcessError(
                f"process {engine.pid}: it has not ended within {END_SECONDS:g} s", hint=f"kill -9 {engine.pid} ends it"
            )
        time.sleep(POLL_SECONDS)
