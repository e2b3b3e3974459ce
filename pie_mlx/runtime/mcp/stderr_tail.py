"""Keeps the last lines a server writes to standard error."""

import asyncio
import os
from collections import deque
from typing import TextIO

LINES = 50
LINE_LIMIT = 1_000
"""Characters kept of a line."""


class StderrTail(asyncio.Protocol):
    """Reads a pipe to its end; keeps the last LINES lines."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=LINES)
        self._unfinished = b""
        self._transport: asyncio.BaseTransport | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        last = [_shown(self._unfinished)] if self._unfinished else []
        return (*self._lines, *last)[-LINES:]

    async def open(self) -> TextIO:
        """Open a pipe and return its write end, which the caller closes. Earlier lines are kept."""
        reading, writing = os.pipe()
        end = os.fdopen(writing, "w")
        pipe = os.fdopen(reading, "rb", buffering=0)
        try:
            self._transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: self, pipe)
        except BaseException:
            end.close()
            pipe.close()
            raise
        return end

    def close(self) -> None:
        """Read no more."""
        if self._transport is not None:
            self._transport.close()

    def data_received(self, data: bytes) -> None:
        """Called by the loop."""
        *complete, rest = (self._unfinished + data).split(b"\n")
        self._lines.extend(map(_shown, complete[-LINES:]))
        self._unfinished = rest[: 4 * LINE_LIMIT]


def _shown(line: bytes) -> str:
    return line.decode(errors="replace").rstrip("\r")[:LINE_LIMIT]
