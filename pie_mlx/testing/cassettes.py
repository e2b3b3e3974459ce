"""Cassettes: recordings that a test makes once, and replays from then on."""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec

from pie_mlx.config import pie_home
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.runtime.execution.entry import Main, function_entry
from pie_mlx.runtime.execution.output_capture import captured_output
from pie_mlx.runtime.program.inputs import plain_input
from pie_mlx.runtime.recording.file import Recording, read_recording
from pie_mlx.runtime.replay.launch import replay_recording
from pie_mlx.runtime.replay.process import ReplayRun
from pie_mlx.runtime.replay.replayed import Replayed
from pie_mlx.runtime.replay.tape import tapes
from pie_mlx.runtime.worker.settings import WorkerSettings
from pie_mlx.testing.result import Result, result_of

Mode = Literal["once", "all", "none"]
"""Record what is missing; record everything again; record nothing."""


class CassetteError(AssertionError):
    """A program does not do what its cassette holds."""


@dataclass(frozen=True, slots=True)
class Cassette:
    """A file beside the test. `record` runs the program on an engine."""

    path: Path
    mode: Mode

    def run(self, program: str | Path | Main, input: Any, record: Callable[[Path], Result]) -> Result:
        """Replay the program, or record it where there is no recording yet. Raises CassetteError."""
        if self.mode == "all" or (self.mode == "once" and not self.path.exists()):
            return self._recorded(record)
        if not self.path.exists():
            raise InvalidArgumentError(f"{self.path}: no such cassette", hint="record it with --pie-record=once")
        recording = read_recording(self.path)
        self._check_input(recording, input)
        replayed = _replay(self.path, program, recording)
        for one in replayed:
            if one.state != "agrees":
                raise CassetteError(f"{self.path.name}: {one.report()}\n(record it again with --pie-record=all)")
        value = _value(replayed[0])
        return result_of(recording, value, replayed[0].output, (), replayed=True)

    def _recorded(self, record: Callable[[Path], Result]) -> Result:
        """A program that fails leaves no cassette, and an earlier one as it was."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        try:
            result = record(fresh)
            os.replace(fresh, self.path)
        finally:
            fresh.unlink(missing_ok=True)
        return result

    def _check_input(self, recording: Recording, input: Any) -> None:
        recorded = msgspec.json.decode(tapes(recording)[0].launched.input, type=dict[str, Any])
        given = plain_input(input)
        if any(name not in recorded or recorded[name] != value for name, value in given.items()):
            raise CassetteError(f"{self.path.name}: recorded with the input {recorded}, not {given}")


def _value(replayed: Replayed) -> Any:
    if replayed.format == "json":
        return msgspec.json.decode(replayed.value)
    return replayed.value if replayed.format == "text" else None


def _replay(path: Path, program: str | Path | Main, recording: Recording) -> list[Replayed]:
    if isinstance(program, str | Path):
        settings = WorkerSettings()
        source, home = Path(program), pie_home(os.environ)
        return replay_recording(path, source, home, settings, environment=os.environ, captures=True)
    entry = function_entry(program)
    tape = tapes(recording)[0]
    printed: list[str] = []
    file = Path(getattr(program, "__code__", _replay.__code__).co_filename)
    run = ReplayRun(tape, partial(entry.run, msgspec.json.decode(tape.launched.input)), file)
    found: list[Replayed] = []

    def replay() -> None:
        found.append(run.run(captured_output(lambda stream, text: printed.append(text))))

    thread = threading.Thread(target=replay, name="pie-replay")  # this one may run a loop
    thread.start()
    thread.join()
    return [msgspec.structs.replace(one, output="".join(printed)) for one in found]
