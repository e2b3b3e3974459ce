"""The file that the events of an engine are recorded in."""

import contextlib
import time
from collections.abc import Generator
from pathlib import Path

import click

from pie_mlx.event_log import EventWriter


@contextlib.contextmanager
def recording_in(file: Path | None, option: str) -> Generator[EventWriter | None]:
    """The writer of the file that `option` names; None for no file. Raises click.UsageError, InvalidArgumentError."""
    if file is None:
        yield None
        return
    try:
        writer = EventWriter(file, time.monotonic)
    except OSError as error:
        raise click.UsageError(f"{option} {file}: {error.strerror}") from None
    with writer:
        yield writer
