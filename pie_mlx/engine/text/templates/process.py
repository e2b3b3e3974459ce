"""Chat templates are programs that come with a model, and read what other programs say: they run in a process of their
own, which is killed when one takes too long or too much."""

import atexit
import os
import pickle
import select
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pie_mlx

CPU_SECONDS = 2.0
"""Processor time of one rendering. Long conversations with many tools take some hundredths."""
WALL_SECONDS = 30.0
"""The same on a machine that has too much to do."""
MEMORY_BYTES = 1 << 30
LONGEST_TEXT = 8 << 20
"""Characters that are rendered."""

LENGTH = struct.Struct("<cI")
"""Before each message: what it is, and its length."""
TEXT, NAMES, REFUSED, BROKEN = b"t", b"n", b"r", b"b"
"""A rendering, the variables of a template, why it refuses, where it is no template."""

_BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from pie_mlx.engine.text.templates.worker import serve; serve()"
_ROOT = str(Path(pie_mlx.__file__).parents[1])


class RenderingRefusedError(Exception):
    """Says why there is no text."""


class RenderingKilledError(RenderingRefusedError):
    """It took too long or too much memory."""


class BrokenTemplateError(Exception):
    """Says why a text is no template."""


class TemplateProcess:
    """Renders all templates of this process, one after another. Starts with the first one. Any thread may ask."""

    def __init__(self, *, cpu_seconds: float = CPU_SECONDS, wall_seconds: float = WALL_SECONDS) -> None:
        self._cpu_seconds, self._wall_seconds = cpu_seconds, wall_seconds
        self._turn = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._numbers: dict[str, int] = {}

    def variables(self, source: str) -> frozenset[str]:
        """The names that a template reads besides the conversation. Raises BrokenTemplateError."""
        return frozenset(self._ask(source, None).split())

    def render(self, source: str, names: Mapping[str, Any]) -> str:
        """The text of a template with the variables `names`. Raises RenderingRefusedError."""
        return self._ask(source, names)

    def close(self) -> None:
        """End the process, if it runs; the next template starts another."""
        with self._turn:
            self._kill()

    def _ask(self, source: str, names: Mapping[str, Any] | None) -> str:
        with self._turn:
            kind, answer = self._exchanged(source, names)
        if kind == REFUSED:
            raise RenderingRefusedError(answer)
        if kind == BROKEN:
            raise BrokenTemplateError(answer)
        return answer

    def _exchanged(self, source: str, names: Mapping[str, Any] | None) -> tuple[bytes, str]:
        known = names is not None and source in self._numbers
        number = self._numbers.setdefault(source, len(self._numbers))
        try:
            request = pickle.dumps((number, None if known else source, names))
        except RecursionError:
            raise RenderingRefusedError("the conversation is nested too deeply") from None
        try:
            return _exchange(self._child or self._start(), request, self._wall_seconds)
        except (EOFError, OSError):
            self._kill()
            limits = f"{self._cpu_seconds:g} s or {MEMORY_BYTES >> 20:,} MiB"
            raise RenderingKilledError(f"it takes more than {limits}") from None

    def _start(self) -> "subprocess.Popen[bytes]":
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-c", _BOOT, _ROOT, str(self._cpu_seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,  # what interrupts the engine is none of its business
        )
        return self._child

    def _kill(self) -> None:
        child, self._child = self._child, None
        self._numbers.clear()
        if child is not None:
            child.kill()
            with child:  # closes the pipes, and waits
                pass


def _exchange(child: "subprocess.Popen[bytes]", request: bytes, seconds: float) -> tuple[bytes, str]:
    """Raises EOFError and OSError for a process that ends, or does not answer in time."""
    assert child.stdin is not None
    assert child.stdout is not None
    message = memoryview(LENGTH.pack(TEXT, len(request)) + request)
    while message:
        message = message[child.stdin.write(message) :]
    end = time.monotonic() + seconds
    kind, length = LENGTH.unpack(_read(child.stdout.fileno(), LENGTH.size, end))
    return kind, _read(child.stdout.fileno(), length, end).decode("utf-8", "surrogatepass")


def _read(descriptor: int, size_bytes: int, end: float) -> bytes:
    found = bytearray()
    while len(found) < size_bytes:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, end - time.monotonic()))
        piece = os.read(descriptor, min(size_bytes - len(found), 1 << 20)) if ready else b""
        if not piece:
            raise EOFError
        found += piece
    return bytes(found)


shared = TemplateProcess()
"""The one process for all engines here: it keeps nothing of a conversation."""
atexit.register(shared.close)
