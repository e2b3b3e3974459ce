"""Records what crosses between programs and an engine."""

import asyncio
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from pie_mlx import __version__
from pie_mlx.calls import Call
from pie_mlx.engine.hosting.loop import Answer
from pie_mlx.errors import LaunchError
from pie_mlx.runtime.execution.entry import Entry
from pie_mlx.runtime.execution.outcome import Failed, Outcome
from pie_mlx.runtime.program.parameters import Input
from pie_mlx.runtime.program.program import Program
from pie_mlx.runtime.recording.entries import AnyEntry, Begun, Called, Clock, Ended, Launched, Refused, Replied
from pie_mlx.runtime.recording.file import RecordingWriter
from pie_mlx.runtime.store import pack_program
from pie_mlx.runtime.worker.frames.messages import Draws, WireError

CLOCK_READINGS = 100_000
"""Recorded of a process; at later ones a replay shows the time of the call before."""


@dataclass(frozen=True, slots=True)
class Clocks:
    """The monotonic clock and that of the calendar, in nanoseconds."""

    monotonic_ns: Callable[[], int] = time.monotonic_ns
    wall_ns: Callable[[], int] = time.time_ns


class Recorder:
    """Writes the processes of one engine to a file, until the file cannot be written: `warn` then gets the reason.

    Usable from any thread. Raises InvalidArgumentError for an existing file that is no recording, OSError.
    """

    def __init__(self, path: Path, model: str, warn: Callable[[str], None], clocks: Clocks | None = None) -> None:
        self._path, self._warn = path, warn
        self._clocks = clocks or Clocks()
        self._lock = threading.Lock()
        self._processes: dict[str, int] = {}
        self._writer: RecordingWriter | None = RecordingWriter(path)
        self.began_ns, self.wall_ns = self._clocks.monotonic_ns(), self._clocks.wall_ns()
        self.write(Begun(self.wall_ns, self.began_ns, model, __version__))

    def time_ns(self) -> int:
        """Since the beginning."""
        return self._clocks.monotonic_ns() - self.began_ns

    async def process(
        self, process_id: str, parent: str | None, entry: Entry, input: Input, *, draws: bool
    ) -> "ProcessRecorder":
        """Record a process from here on; `draws`: with its clock and its random draws."""
        source, manifest = await asyncio.to_thread(_packed, entry.program) if entry.program else (b"", "")
        number = self._processes[process_id] = len(self._processes)
        seed = secrets.randbits(63) | 1 if draws else 0
        self.write(
            Launched(
                number,
                self.time_ns(),
                entry.identity,
                str((entry.program.directory or entry.program.main_file).absolute()) if entry.program else "",
                msgspec.json.encode(input).decode(),
                self._processes.get(parent, -1) if parent else -1,
                process_id if parent else "",
                seed,
                source,
                manifest,
            )
        )
        return ProcessRecorder(self, number, Draws(seed, self.began_ns, self.wall_ns) if draws else None)

    def write(self, entry: AnyEntry) -> None:
        with self._lock:
            if self._writer is None:
                return
            try:
                self._writer.write(entry)
            except OSError as error:
                self._warn(f"{self._path}: {error.strerror}: the recording ends here")
                self._writer.close()
                self._writer = None

    def close(self) -> None:
        """Idempotent."""
        with self._lock:
            if self._writer is not None:
                self._writer.close()
                self._writer = None


class ProcessRecorder:
    """Records the calls of one process: a `Tap` on the engine's loop."""

    def __init__(self, recorder: Recorder, number: int, draws: Draws | None) -> None:
        self.draws = draws
        self._recorder = recorder
        self._process = number
        self._calls = 0
        self._readings = 0
        self._encoder = msgspec.msgpack.Encoder()

    async def answer(self, message: Call[Any], answer: Answer) -> Any:
        number, self._calls = self._calls, self._calls + 1
        recorder, process = self._recorder, self._process
        recorder.write(Called(process, number, recorder.time_ns(), message))
        try:
            reply = await answer(message)
        except asyncio.CancelledError:  # withdrawn: it has no reply
            raise
        except Exception as error:
            recorder.write(Refused(process, number, recorder.time_ns(), WireError.of(error)))
            raise
        recorder.write(Replied(process, number, recorder.time_ns(), msgspec.Raw(self._encoder.encode(reply))))
        return reply

    def clock_read(self, time_ns: int) -> None:
        self._readings += 1
        if self._readings <= CLOCK_READINGS:
            self._recorder.write(Clock(self._process, time_ns))

    def ended(self, outcome: Outcome) -> None:
        """On any thread."""
        time_ns = self._recorder.time_ns()
        if isinstance(outcome, Failed):
            error = WireError.of(outcome.error)
            self._recorder.write(
                Ended(self._process, time_ns, error=msgspec.structs.replace(error, kind=outcome.error_type))
            )
        else:
            self._recorder.write(Ended(self._process, time_ns, outcome.value, outcome.format))


def _packed(program: Program) -> tuple[bytes, str]:
    """The source and the manifest; nothing of a program too large to keep, which is replayed from its path."""
    try:
        packed = pack_program(program.directory or program.main_file)
    except LaunchError:
        return b"", ""
    return packed.payload, packed.manifest_text
