"""The interface to the system's own supervisor of processes."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pie_mlx.errors import ConfigError, ProcessError

NAME = "pie-mlx"
RESTART_SECONDS = 30
"""The delay before an engine that failed is restarted."""
END_SECONDS = 30
"""How long an engine may take to end; by default it gives its programs and connections 5 seconds each."""
_CARRIED = ("HF_HOME", "HF_HUB_CACHE")
_RUN_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Engine:
    """The command that the supervisor starts."""

    command: Sequence[str]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class State:
    """`exit_status` is that of the last engine that ended; None if unknown."""

    installed: bool
    running: bool = False
    pid: int | None = None
    exit_status: int | None = None


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command of the system ended."""

    code: int
    output: str = ""
    error: str = ""


Run = Callable[[Sequence[str]], Ran]


class Supervisor(Protocol):
    """Raises ProcessError where the system refuses, OSError for its files."""

    @property
    def file(self) -> Path:
        """The description of the engine, kept where the system looks for it."""
        ...

    @property
    def note(self) -> str:
        """A note for the user after an installation; may be empty."""
        ...

    def install(self, engine: Engine) -> None:
        """Run `engine` now and at each login, instead of the one before. An unchanged engine keeps running."""
        ...

    def state(self) -> State: ...

    def remove(self) -> bool:
        """End the engine and forget it; False where none was installed."""
        ...


def run(command: Sequence[str]) -> Ran:
    """Run a command of the system to its end. Raises ProcessError for one that is missing or never ends."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_RUN_SECONDS)
    except FileNotFoundError:
        raise ProcessError(
            f"service: there is no {command[0]} here", hint="start the engine with 'pie serve'"
        ) from None
    except subprocess.TimeoutExpired:
        raise ProcessError(f"service: {' '.join(command)} does not end", hint="run it yourself") from None
    return Ran(done.returncode, done.stdout.strip(), done.stderr.strip())


def refused(command: Sequence[str], ran: Ran, hint: str) -> ProcessError:
    """The error for a command of the system that failed."""
    lines = (ran.error or ran.output).splitlines()
    return ProcessError(f"service: {' '.join(command)}: {lines[-1] if lines else f'status {ran.code}'}", hint=hint)


def engine_here(home: Path, config: Path | None, environment: Mapping[str, str], program: str) -> Engine:
    """`pie serve` as this command line would start it. `program` is the script that runs now: its path survives an
    upgrade of pie-mlx, unlike its interpreter's. Raises ConfigError for names that no description can hold."""
    script = os.path.abspath(program)
    own = [script] if Path(script).name == "pie" and os.access(script, os.X_OK) else [sys.executable, "-m", "pie_mlx"]
    chosen = [] if config is None else ["--config", os.path.abspath(config)]
    carried = {name: environment[name] for name in _CARRIED if environment.get(name)}
    engine = Engine([*own, "serve", "--quiet", *chosen], {"PIE_HOME": os.path.abspath(home), **carried})
    for text in (*engine.command, *engine.environment.values()):
        if not text.isprintable():
            raise ConfigError(f"service: {text!r} has characters that a service cannot have", hint="rename it")
    return engine
