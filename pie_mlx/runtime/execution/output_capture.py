"""Captures the standard output of programs that share one interpreter."""

import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, TextIO, cast

StreamName = Literal["stdout", "stderr"]
Write = Callable[[StreamName, str], None]

_writer: ContextVar[Write | None] = ContextVar("pie_mlx_output", default=None)


class _Router:
    """Replaces a standard stream: captures the text of programs, and passes other text on."""

    def __init__(self, name: StreamName, stream: TextIO) -> None:
        self._name: StreamName = name
        self.stream = stream

    def write(self, text: str) -> int:
        write = _writer.get()
        if write is None:
            return self.stream.write(text)
        write(self._name, text)
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def isatty(self) -> bool:
        return _writer.get() is None and self.stream.isatty()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class _Installation:
    """Keeps routers in `sys` while anything is captured."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        # Never released: CPython's print uses a borrowed reference even while another thread replaces sys.stdout.
        self._routers: list[_Router] = []

    def enter(self) -> None:
        with self._lock:
            self._users += 1
            for name in ("stdout", "stderr"):
                stream = getattr(sys, name)
                if not isinstance(stream, _Router):
                    setattr(sys, name, self._router(name, stream))

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users:
                return
            for name in ("stdout", "stderr"):
                stream = getattr(sys, name)
                if isinstance(stream, _Router):
                    setattr(sys, name, stream.stream)

    def _router(self, name: StreamName, stream: TextIO) -> _Router:
        for router in self._routers:
            if router.stream is stream:
                return router
        self._routers.append(_Router(name, stream))
        return self._routers[-1]


_installation = _Installation()


@contextmanager
def captured_output(write: Write) -> Generator[None]:
    """Send what the enclosed code prints to `write`; tasks and `asyncio.to_thread` inherit the capture.

    `write` is called on the printing thread. Text sent to a stream's `buffer` is not captured.
    """
    _installation.enter()
    token = _writer.set(write)
    try:
        yield
    finally:
        _writer.reset(token)
        _installation.leave()


def real_stream(name: StreamName) -> TextIO:
    """The original stream, for showing captured text."""
    stream = getattr(sys, name)
    return stream.stream if isinstance(stream, _Router) else cast("TextIO", stream)
