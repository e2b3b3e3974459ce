"""An engine in a process of its own, started by another command."""

import subprocess
import sys
import time
from types import FrameType
from typing import IO

from pie_mlx.cli.config.active import home
from pie_mlx.cli.options import Common
from pie_mlx.cli.terminal.progress import progress_line
from pie_mlx.cli.terminal.signals import handled_by
from pie_mlx.client.discovery import LocalEngine, local_engine
from pie_mlx.errors import ConfigError

POLL_SECONDS = 0.05
END_SECONDS = 60.0
_SHOWN_BYTES = 4096


def spawn_engine(words: list[str], output: IO[bytes], common: Common) -> "subprocess.Popen[bytes]":
    """Start `pie serve` with these words; its terminal is `output`, and Ctrl-C here does not reach it."""
    command = engine_command(words, common)
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
    )


def engine_command(words: list[str], common: Common) -> list[str]:
    """The command line of `pie serve` with these words."""
    chosen = ["--config", str(common.config)] if common.config else []
    return [sys.executable, "-m", "pie_mlx", "serve", *chosen, *words]


def await_engine(process: "subprocess.Popen[bytes]", output: IO[bytes], common: Common) -> LocalEngine:
    """Wait until clients can use it. Raises ConfigError with what it said if it ends before, and KeyboardInterrupt."""
    with handled_by(_interrupt), progress_line(common):
        while process.poll() is None:
            engine = local_engine(home())
            if engine is not None and engine.pid == process.pid:
                return engine
            time.sleep(POLL_SECONDS)
    output.seek(0)
    said = output.read(_SHOWN_BYTES).decode(errors="replace").strip().removeprefix("pie: ")
    what, _, hint = said.partition("\n     try: ")
    raise ConfigError(f"the engine did not start: {what}", hint=hint or "'pie serve' says more")


def end_engine(process: "subprocess.Popen[bytes]") -> None:
    """End it, and wait for that."""
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raise, so that the engine is ended before this command."""
    raise KeyboardInterrupt
