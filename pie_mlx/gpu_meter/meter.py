"""Asks the child for its counters: rarely, for a bounded time, and without trusting that it lives."""

import contextlib
import os
import platform
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from pie_mlx.gpu_meter.gpu_reading import NO_GPU, GpuReading
from pie_mlx.gpu_meter.reading import Sample, reading

COMMAND = (sys.executable, "-I", "-S", str(Path(__file__).with_name("counters.py")))
FRESH_SECONDS = 1.0
"""A reading serves all who ask within so long of it."""
FIRST_SECONDS = 0.2
"""Between the first two samples, and after a pause: for a figure of now, not of the pause."""
PAUSE_SECONDS = 10.0
ANSWER_SECONDS = 5.0
"""The first answer lists some thousand keys of the SMC."""
END_SECONDS = 1.0
"""From the end of its output to that of the child."""
REST_SECONDS = 60.0
"""After a failure nothing is tried for so long."""


def is_apple_silicon() -> bool:
    """Whether this machine has the counters."""
    return sys.platform == "darwin" and platform.machine() == "arm64"


class GpuMeter:
    """Any thread may ask. The child starts with the first question, and ends after a minute without one."""

    def __init__(
        self,
        command: Sequence[str] = COMMAND,
        *,
        is_present: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self._command, self._clock, self._wait, self._answer_seconds = command, clock, wait, answer_seconds
        self._is_present = is_apple_silicon() if is_present is None else is_present
        self._turn = threading.Lock()
        self.child: subprocess.Popen[bytes] | None = None
        self._latest: tuple[float, Sample] | None = None
        self._known = GpuReading()
        self._until = float("-inf")

    def read(self) -> GpuReading:
        """The GPU since the latest reading, at most once per second. Takes a fifth of a second after a pause."""
        if not self._is_present:
            return NO_GPU
        with self._turn:
            if self._clock() >= self._until:
                self._known, seconds = self._fresh()
                self._until = self._clock() + seconds
            return self._known

    def close(self) -> None:
        """End the child, if it runs."""
        with self._turn:
            self._end()

    def _fresh(self) -> tuple[GpuReading, float]:
        """A new reading, and how long it counts."""
        try:
            latest = self._latest
            if latest is None or self._clock() - latest[0] > PAUSE_SECONDS:
                latest = self._sample()
                self._wait(FIRST_SECONDS)
            self._latest = now = self._sample()
        except (OSError, EOFError, msgspec.DecodeError) as error:
            problem = self._trouble(error)
            self._end()
            return GpuReading(problem=problem), REST_SECONDS
        return reading(latest[1], now[1]), FRESH_SECONDS

    def _sample(self) -> tuple[float, Sample]:
        child = self.child
        if child is None or child.poll() is not None:
            self._end()
            child = self.child = self._start()
        answer = _ask(child, self._answer_seconds)
        return self._clock(), msgspec.json.decode(answer, type=Sample)

    def _start(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,  # what interrupts the engine is none of its business
        )

    def _trouble(self, error: Exception) -> str:
        if isinstance(error, TimeoutError):
            return f"its counters did not come within {self._answer_seconds:g} s"
        if isinstance(error, msgspec.DecodeError):
            return "its counters came in an unknown form"
        if isinstance(error, EOFError | BrokenPipeError) and self.child is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return f"the process that reads its counters ended with {self.child.wait(END_SECONDS)}"
        return str(error) or "the process that reads its counters is silent"

    def _end(self) -> None:
        child, self.child, self._latest = self.child, None, None
        if child is not None:
            child.kill()
            with child:  # closes the pipes, and waits
                pass


def _ask(child: "subprocess.Popen[bytes]", seconds: float) -> bytes:
    """One line for one line. Raises EOFError and OSError for a child that ends, or does not answer in time."""
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(b"\n")
    found, end = bytearray(), time.monotonic() + seconds
    while not found.endswith(b"\n"):
        ready, _, _ = select.select([child.stdout], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            raise TimeoutError
        piece = os.read(child.stdout.fileno(), 1 << 16)
        if not piece:
            raise EOFError
        found += piece
    return bytes(found)
