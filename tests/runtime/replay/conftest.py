"""Programs that are recorded once, on an engine without weights, and replayed after a change."""

import contextlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from pie_mlx import Engine
from pie_mlx.runtime.execution.entry import ProgramBody
from pie_mlx.runtime.program.program import find_program
from pie_mlx.runtime.recording.file import read_recording
from pie_mlx.runtime.recording.recorder import Recorder
from pie_mlx.runtime.replay.process import ReplayRun
from pie_mlx.runtime.replay.tape import tapes

HEAD = "import asyncio\nfrom inferlet import Context, Model, Sampler, messaging, runtime, session\n"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def recorder_engine():
    """An engine without weights."""
    async with Engine(dummy=True, total_pages=256, seed=1) as engine:
        yield engine


@dataclass
class Recorded:
    """A recording, and the program that was recorded."""

    path: Path
    program: Path

    @property
    def tape(self):
        return tapes(read_recording(self.path))[0]

    def replay(self, body=None, *, place=0):
        """Replay with another body, of main or of the whole file."""
        if body is not None:
            write(self.program, body)
        program = find_program(self.program)
        tape = tapes(read_recording(self.path))[place]
        run = ReplayRun(tape, partial(ProgramBody(program), {"topic": "rain"}), self.program)
        with ThreadPoolExecutor(1) as thread:  # this one runs a loop
            return thread.submit(run.run, contextlib.nullcontext()).result()


def write(path, body):
    lines = body if "async def main" in body else "async def main(input):\n" + body
    path.write_text(HEAD + lines)


@pytest.fixture
def record(recorder_engine, tmp_path):
    """Records a program with the given body."""

    async def record(body, messages=()):
        program = tmp_path / "agent.py"
        write(program, body)
        recorder = Recorder(tmp_path / "run.pie", "dummy", print)
        process = await recorder_engine.launch(program, {"topic": "rain"}, recorder=recorder)
        for message in messages:
            process.send(message)
        process.close_session()
        await process.outcome()
        recorder.close()
        return Recorded(tmp_path / "run.pie", program)

    return record
