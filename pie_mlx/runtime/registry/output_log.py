"""The output of processes on disk, for `pie logs`: one JSON line per event.

Each process has a file, and once that is long, a second one with the lines before it.
"""

import contextlib
import errno
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from pie_mlx.documents import json_struct
from pie_mlx.errors import InvalidArgumentError, ProcessError
from pie_mlx.events import (
    ProcessEvent,
    ProcessFailed,
    ProcessFile,
    ProcessLaunched,
    ProcessMessage,
    ProcessOutput,
    ProcessReturned,
)

SEGMENT_BYTES = 8 << 20
"""Each process keeps two segments."""
TOTAL_BYTES = 1 << 30
FILES_LIMIT = 10_000
PRUNED_EVERY = 64
"""Launches between two scans of all files, which are slow when there are many."""
_ANSWER_BYTES = 700_000
"""Text in one answer: escaped as JSON in a string, it must fit a frame."""


class LogHead(msgspec.Struct, frozen=True):
    """The first line of every file."""

    process: str
    username: str
    program: str
    started_at: float


class LogLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """One event. `event` is its name on the wire, `time` Unix time. A file's contents are not logged."""

    sequence: int
    time: float
    event: str
    value: str
    format: str = ""
    error_type: str = ""
    size_bytes: int = 0


class OutputLog:
    """Appends the events of one process. `write` returns once the operating system has the line."""

    def __init__(self, path: Path, head: LogHead, clock: Callable[[], float], segment_bytes: int) -> None:
        self._path = path
        self._head = msgspec.json.encode(head) + b"\n"
        self._clock = clock
        self._segment_bytes = segment_bytes
        self._sequence = 0
        self._size_bytes = 0
        self._descriptor = self._begin()

    def write(self, event: str, value: str, *, format: str = "", error_type: str = "", size_bytes: int = 0) -> None:
        """Raises OSError."""
        if self._size_bytes > self._segment_bytes:
            self.close()
            self._path.replace(_earlier(self._path))
            self._descriptor = self._begin()
        self._sequence += 1
        line = LogLine(self._sequence, self._clock(), event, value, format, error_type, size_bytes)
        self._append(msgspec.json.encode(line) + b"\n")

    def close(self) -> None:
        """Idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def remove(self) -> None:
        """Close it, and forget what was written."""
        self.close()
        self._path.unlink(missing_ok=True)

    def _begin(self) -> int:
        self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        self._size_bytes = 0
        try:
            self._append(self._head)
        except OSError:
            self.remove()
            raise
        return self._descriptor

    def _append(self, line: bytes) -> None:
        """Write a whole line or nothing: otherwise the next line would continue a partial one."""
        if os.write(self._descriptor, line) < len(line):
            os.ftruncate(self._descriptor, self._size_bytes)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._path))
        self._size_bytes += len(line)


class OutputLogs:
    """The logs of all processes, in a directory of mode 0700. Periodically removes the oldest beyond the limits."""

    def __init__(
        self,
        directory: Path,
        clock: Callable[[], float],
        *,
        segment_bytes: int = SEGMENT_BYTES,
        total_bytes: int = TOTAL_BYTES,
        files: int = FILES_LIMIT,
        pruned_every: int = PRUNED_EVERY,
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._directory = directory
        self._clock = clock
        self._segment_bytes = segment_bytes
        self._total_bytes = total_bytes
        self._files = files
        self._pruned_every = pruned_every
        self._begun = 0

    def begin(self, process: str, username: str, program: str) -> OutputLog:
        """A log for a process that starts now. Raises OSError."""
        if self._begun % self._pruned_every == 0:
            self._prune()
        self._begun += 1
        head = LogHead(process, username, program, self._clock())
        return OutputLog(self._path(process), head, self._clock, self._segment_bytes)

    def head(self, process: str) -> LogHead:
        """The first line of a log. Raises ProcessError if the process has none."""
        found = _head(self._path(process))
        if found is None:
            hint = "'pie logs' lists the processes that are recorded; requests to /v1 are not"
            raise ProcessError("Process not found", hint=hint)
        return found

    def newest(self, prefix: str, username: str | None, limit: int) -> list[LogHead]:
        """Logs of ids that begin with `prefix`, the latest written first, those of one user or, with None, of all."""
        paths = [path for path in self._directory.glob("*.jsonl") if path.name.startswith(prefix)]
        heads = map(_head, sorted(paths, key=_modified_seconds, reverse=True))
        return list(itertools.islice((head for head in heads if head and username in (None, head.username)), limit))

    def read(self, process: str, *, after: int = 0, limit: int = 1000) -> list[LogLine]:
        """Lines with a sequence number above `after`: at most `limit`, and as many as fit an answer.

        Raises ProcessError if the process has no log.
        """
        self.head(process)
        found: list[LogLine] = []
        size_bytes = 0
        for line in self._lines(process):
            if line.sequence <= after:
                continue
            size_bytes += len(line.value.encode()) + 100
            if len(found) == limit or (found and size_bytes > _ANSWER_BYTES):
                break
            found.append(line)
        return found

    def _lines(self, process: str) -> Iterator[LogLine]:
        path = self._path(process)
        for segment in (_earlier(path), path):
            if segment.exists():
                yield from _decoded(segment)

    def _path(self, process: str) -> Path:
        return self._directory / f"{process}.jsonl"

    def _prune(self) -> None:
        files = sorted(self._directory.glob("*.jsonl*"), key=lambda path: path.stat().st_mtime, reverse=True)
        total_bytes = 0
        for place, path in enumerate(files):
            total_bytes += path.stat().st_size
            if total_bytes > self._total_bytes or place >= self._files:
                path.unlink(missing_ok=True)


def _earlier(path: Path) -> Path:
    return path.with_suffix(".jsonl.1")


def _head(path: Path) -> LogHead | None:
    try:
        with path.open("rb") as file:
            return json_struct(file.readline(), LogHead)
    except (OSError, InvalidArgumentError):
        return None


def _modified_seconds(path: Path) -> float:
    """0 for a file that has just been removed."""
    return path.stat().st_mtime if path.exists() else 0.0


def _decoded(segment: Path) -> Iterator[LogLine]:
    """The lines of a file, except truncated or damaged ones."""
    with segment.open("rb") as file:
        file.readline()
        for line in file:
            if line.endswith(b"\n"):
                with contextlib.suppress(InvalidArgumentError):
                    yield json_struct(line, LogLine)


def plain_lines(lines: list[LogLine]) -> list[dict[str, Any]]:
    """Lines as JSON objects."""
    return msgspec.to_builtins(lines)


def write_event(log: OutputLog, event: ProcessEvent) -> None:
    """Write an event to a process's log. Raises OSError."""
    match event:
        case ProcessOutput(stream=stream, text=text):
            log.write(stream, text)
        case ProcessMessage(text=text, format=format):
            log.write("message", text, format=format)
        case ProcessFile(name=name, size_bytes=size_bytes):
            log.write("file", name, size_bytes=size_bytes)
        case ProcessReturned(value=value, format=format):
            log.write("return", value, format=format)
        case ProcessFailed(message=message, error_type=error_type):
            log.write("error", message, error_type=error_type)
        case ProcessLaunched():
            pass
