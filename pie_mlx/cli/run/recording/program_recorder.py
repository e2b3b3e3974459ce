"""Record the programs of an engine for `pie replay`."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pie_mlx.runtime.recording.recorder import Recorder


@asynccontextmanager
async def program_recorder(path: Path | None, model: str) -> "AsyncGenerator[Recorder | None]":
    """A recorder for `--record`; None for no file. Raises click.UsageError, InvalidArgumentError."""
    if path is None:
        yield None
        return
    from pie_mlx.runtime.recording.recorder import Recorder

    try:
        recorder = Recorder(path, model, warn=lambda text: print(f"pie: warning: {text}", file=sys.stderr))
    except OSError as error:
        raise click.UsageError(f"--record {path}: {error.strerror}") from None
    try:
        yield recorder
    finally:
        recorder.close()
