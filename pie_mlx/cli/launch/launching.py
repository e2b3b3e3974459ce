"""Start a client on an engine, and end that engine if it was started for it."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from pie_mlx.cli.config.active import home
from pie_mlx.cli.launch.clients import CLIENTS, UNKNOWN_CONTEXT, ClientProgram, Setup, Target, general_variables
from pie_mlx.cli.launch.own_engine import own_engine
from pie_mlx.cli.options import Common
from pie_mlx.cli.terminal.signals import handled_by
from pie_mlx.client.discovery import find_engine, local_engine
from pie_mlx.errors import AuthError, ConfigError, LaunchError, SessionClosedError
from pie_mlx.files import make_own, write_file

TOKEN = "PIE_TOKEN"
NO_KEY = "pie"
"""What a client sends as key where the engine wants none: most insist on one."""
ANSWER_SECONDS = 30.0
_SIGNALLED = 128


def launch(name: str, arguments: Sequence[str], model: str | None, common: Common) -> int:
    """Run a client of CLIENTS and return its exit status.

    Raises LaunchError if it is not installed, and ConfigError, AuthError and SessionClosedError for the engine.
    """
    client = CLIENTS[name]
    path = shutil.which(client.command)
    if path is None:
        raise LaunchError(f"{client.command}: it is not installed, or not in $PATH", hint=client.install)
    with _engine_url(model, common) as url:
        target = _target(name, url)
        setup = _set_up(client, target)
        words = [path, *setup.arguments, *arguments]
        if not common.quiet:
            _tell(setup, target, shlex.join([client.command, *setup.arguments, *arguments]))
        return _run(words, {**os.environ, **setup.environment})


def print_exports(name: str, common: Common) -> None:
    """Print the variables that most clients read, of the engine that runs. Raises SessionClosedError if none does."""
    address = find_engine(common.url, os.environ, home())
    if address is None:
        raise SessionClosedError(
            f"'{name}' is none of {', '.join(CLIENTS)}, and no engine is running whose variables could be printed",
            hint="start one with 'pie serve'",
        )
    variables = general_variables(_target(name, http_url(address.url)))
    if common.json:
        print(json.dumps(variables))
        return
    for variable, value in variables.items():
        print(f"export {variable}={shlex.quote(value)}")


@contextmanager
def _engine_url(model: str | None, common: Common) -> Generator[str]:
    """The address of the engine that runs, or of one that runs until the end."""
    address = find_engine(common.url, os.environ, home())
    if address is None:
        with own_engine(model, common) as url:
            yield http_url(url)
        return
    running = local_engine(home())
    if model is not None and (running is None or model not in (running.model, running.source)):
        raise ConfigError(
            f"--model {model}: an engine runs already, and serves {running.model if running else 'what it was given'}",
            hint="leave --model out, or end that engine with 'pie stop'",
        )
    yield http_url(address.url)


def http_url(url: str) -> str:
    """The address for HTTP of a websocket."""
    scheme, _, rest = url.partition("://")
    return f"{'https' if scheme in ('wss', 'https') else 'http'}://{rest.rstrip('/')}"


def _target(name: str, url: str) -> Target:
    key = os.environ.get(TOKEN) or NO_KEY
    model = _served_model(url, key)
    context = model.get("context_length") or UNKNOWN_CONTEXT
    return Target(url, str(model["id"]), int(context), key, home() / "clients" / name)


def _served_model(url: str, key: str) -> dict[str, Any]:
    """The first model that the engine lists. Raises AuthError, SessionClosedError."""
    request = urllib.request.Request(f"{url}/v1/models", headers={"authorization": f"Bearer {key}"})
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:
            return dict(json.load(answer)["data"][0])
    except urllib.error.HTTPError as error:
        if error.code == 401:
            raise AuthError(
                f"{url}: authentication is on, and clients need its token", hint=f"set {TOKEN}: 'pie serve --debug'"
            ) from None
        raise SessionClosedError(f"{url}: it answered {error.code}", hint="look at its log") from None
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise SessionClosedError(f"{url}: {error}", hint="is it the address of an engine?") from None


def _set_up(client: ClientProgram, target: Target) -> Setup:
    setup = client.setup(target)
    try:
        for directory in (home(), target.directory.parent, target.directory):
            make_own(directory)
        for name, text in setup.files.items():
            write_file(target.directory / name, text.encode())
    except OSError as error:
        raise ConfigError(f"{error.filename}: {error.strerror}", hint="check its permissions") from None
    return setup


def _tell(setup: Setup, target: Target, line: str) -> None:
    hidden = {name for name, value in setup.environment.items() if value == target.key != NO_KEY}
    for name, value in setup.environment.items():
        print(f"pie: {name}={'(hidden)' if name in hidden else shlex.quote(value)}", file=sys.stderr)
    for name in setup.files:
        print(f"pie: wrote {target.directory / name}", file=sys.stderr)
    print(f"pie: {line}", file=sys.stderr, flush=True)


def _run(words: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a client in the foreground. Ctrl-C is its own affair; other signals that would end us are passed on."""
    process: subprocess.Popen[bytes] | None = None

    def handle(number: int, frame: FrameType | None) -> None:
        del frame
        if number != signal.SIGINT and process is not None:
            process.send_signal(number)

    with handled_by(handle):
        try:
            process = subprocess.Popen(words, env=environment)
        except OSError as error:
            raise LaunchError(f"{words[0]}: {error.strerror}", hint="check that it can be executed") from None
        status = process.wait()
    return status if status >= 0 else _SIGNALLED - status
