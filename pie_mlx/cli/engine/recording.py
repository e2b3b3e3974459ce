"""Record the events of an engine in a file."""

import contextlib
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

import click

from pie_mlx.event_log import EventWriter
from pie_mlx.events import Event


class Recording:
    """Writes events until the disk refuses one; then prints one warning, and the engine runs on."""

    def __init__(self, writer: EventWriter, file: str) -> None:
        self._writer: EventWriter | None = writer
        self._file = file

    def write(self, event: Event) -> None:
        self._attempt(lambda writer: writer.write(event))

    def flush(self) -> None:
        self._attempt(EventWriter.flush)

    def close(self) -> None:
        self._attempt(EventWriter.close)

    def _attempt(self, act: Callable[[EventWriter], None]) -> None:
        if self._writer is None:
            return
        try:
            act(self._writer)
        except OSError as error:
            print(f"pie: warning: {self._file}: {error.strerror}: the recording ends here", file=sys.stderr)
            self._writer.give_up()
            self._writer = None


@contextlib.contextmanager
def recording_in(file: Path | None, option: str) -> Generator[Recording | None]:
    """A recording in the file that `option` names; None for no file. Raises click.UsageError, InvalidArgumentError."""
    if file is None:
        yield None
        return
    try:
        writer = EventWriter(file, time.monotonic)
    except OSError as error:
        raise click.UsageError(f"{option} {file}: {error.strerror}") from None
    recording = Recording(writer, f"{option} {file}")
    try:
        yield recording
    finally:
        recording.close()
