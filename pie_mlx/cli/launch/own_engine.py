"""An engine in a process of its own, for as long as a client runs."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import IO

from pie_mlx.cli.config.active import active_config, home
from pie_mlx.cli.options import Common
from pie_mlx.cli.terminal.progress import progress_line
from pie_mlx.cli.terminal.signals import handled_by
from pie_mlx.client.discovery import local_engine
from pie_mlx.errors import ConfigError

POLL_SECONDS = 0.05
END_SECONDS = 60.0
_SHOWN_BYTES = 4096


@contextmanager
def own_engine(model: str | None, common: Common) -> Generator[str]:
    """The address of a new engine on any free port, which ends with the block. Raises ConfigError if it cannot start.

    Ctrl-C in the client's terminal does not reach it, and what it prints does not disturb the client.
    """
    active_config(common)  # says what is wrong with it before anything starts
    words = engine_command(model, common)
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            with handled_by(_interrupt), progress_line(common):
                url = _wait_for(process, output)
            yield url
        finally:
            _end(process)


def engine_command(model: str | None, common: Common) -> list[str]:
    words = [sys.executable, "-m", "pie_mlx", "serve", "--port", "0", "--quiet"]
    words += ["--config", str(common.config)] if common.config else []
    return [*words, "--model", model] if model is not None else words


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raise, so that the engine is ended before this command."""
    raise KeyboardInterrupt


def _wait_for(process: "subprocess.Popen[bytes]", output: IO[bytes]) -> str:
    while process.poll() is None:
        engine = local_engine(home())
        if engine is not None and engine.pid == process.pid:
            return engine.url
        time.sleep(POLL_SECONDS)
    output.seek(0)
    said = output.read(_SHOWN_BYTES).decode(errors="replace").strip().removeprefix("pie: ")
    what, _, hint = said.partition("\n     try: ")
    raise ConfigError(f"the engine did not start: {what}", hint=hint or "'pie serve' says more")


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
