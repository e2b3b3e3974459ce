"""How `pie run` shows the events of a program."""

import contextlib
import itertools
import json
import sys
from pathlib import Path
from typing import Protocol

from pie_mlx.cli.options import Common
from pie_mlx.events import (
    ProcessEvent,
    ProcessFailed,
    ProcessFile,
    ProcessMessage,
    ProcessOutput,
    ProcessReturned,
)
from pie_mlx.files import SHARED, create_file, safe_name
from pie_mlx.plural import plural

TAIL_CHARACTERS = 1_000_000
"""The length of the longest return value."""


class Display(Protocol):
    """Shows the events of one process, in order."""

    def __call__(self, event: ProcessEvent) -> None: ...


class TextDisplay:
    """Messages and standard output as they arrive, then the return value unless it was just printed.

    With `quiet` only the return value.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._tail = ""

    def __call__(self, event: ProcessEvent) -> None:
        match event:
            case ProcessOutput(stream="stderr", text=text):
                sys.stderr.write(text)
                sys.stderr.flush()
            case ProcessOutput(text=text):
                self._show(text)
            case ProcessMessage(text=text, format=format):
                self._show(text + "\n" if format == "json" else text)
            case ProcessReturned(value=value):
                self._finish(value)
            case ProcessFailed():
                self._end_line()
            case _:
                pass

    def _show(self, text: str) -> None:
        if self._quiet:
            return
        sys.stdout.write(text)
        sys.stdout.flush()
        self._tail += text
        if len(self._tail) > 2 * TAIL_CHARACTERS:
            self._tail = self._tail[-TAIL_CHARACTERS:]

    def _finish(self, value: str) -> None:
        shown = self._tail.rstrip("\n").endswith(value.rstrip("\n"))
        self._end_line()
        if value and not (shown and self._tail):
            print(value.removesuffix("\n"))

    def _end_line(self) -> None:
        if self._tail and not self._tail.endswith("\n"):
            sys.stdout.write("\n")
            sys.stdout.flush()


class JsonDisplay:
    """One object per event; the last is `return` or `error`. `process_id` is the earlier word for `process`."""

    def __call__(self, event: ProcessEvent) -> None:
        match event:
            case ProcessOutput(stream=stream, text=text):
                self._show(event.process, stream, text)
            case ProcessMessage(text=text, format=format):
                self._show(event.process, "message", text, format=format)
            case ProcessFile(name=name, size_bytes=size_bytes):
                self._show(event.process, "file", name, size_bytes=size_bytes)
            case ProcessReturned(value=value, format=format):
                self._show(event.process, "return", value, format=format)
            case ProcessFailed(error_type=error_type, message=message, hint=hint):
                self._show(event.process, "error", message, error_type=error_type, hint=hint)
            case _:
                pass

    def _show(self, process: str, event: str, value: str, **more: str | int) -> None:
        line = {"process": process, "process_id": process, "event": event, "value": value, **more}
        print(json.dumps(line, ensure_ascii=False), flush=True)


def display_for(common: Common) -> Display:
    """The display that the options ask for."""
    return JsonDisplay() if common.json else TextDisplay(quiet=common.quiet)


class ReceivedFiles:
    """Saves the files a program sends to a directory, under safe names. Reports files that are not kept, and why."""

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory
        self._count = 0

    def __call__(self, data: bytes, name: str) -> None:
        self._count += 1
        name = safe_name(name) or f"file-{self._count}"
        if self._directory is None:
            print(
                f"pie: received {name} ({plural(len(data), 'byte')}), not kept: name a directory with --files",
                file=sys.stderr,
            )
            return
        try:
            target = _saved(self._directory / name, data)
        except OSError as error:
            print(f"pie: received {name} ({plural(len(data), 'byte')}), not kept: {error.strerror}", file=sys.stderr)
        else:
            print(f"pie: saved {target} ({plural(len(data), 'byte')})", file=sys.stderr)


def _saved(path: Path, data: bytes) -> Path:
    """Write the file; returns its path, with a number added where the name is taken. Raises OSError."""
    target = path
    for number in itertools.count(2):
        with contextlib.suppress(FileExistsError):
            create_file(target, data, SHARED)
            break
        target = path.with_stem(f"{path.stem}-{number}")
    return target
