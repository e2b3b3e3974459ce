"""The interpreter of a replay: reads the recording, and runs each recorded process in a fork that is confined like a
worker. It has the hashes of recorded workers, and imports neither the engine nor MLX.

    python -c '...' ROOT JOB RESULTS_FD
"""

import contextlib
import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any, cast

import msgspec

from pie_mlx.errors import PieError
from pie_mlx.runtime.execution.entry import ProgramBody
from pie_mlx.runtime.execution.output_capture import captured_output
from pie_mlx.runtime.program.program import Program
from pie_mlx.runtime.recording.entries import Begun
from pie_mlx.runtime.recording.file import read_recording
from pie_mlx.runtime.replay.job import LENGTH, Job
from pie_mlx.runtime.replay.process import ReplayRun
from pie_mlx.runtime.replay.replayed import Replayed
from pie_mlx.runtime.replay.source import recorded_program
from pie_mlx.runtime.replay.tape import Tape, tapes
from pie_mlx.runtime.sandbox.capabilities import drop_capabilities
from pie_mlx.runtime.store import ProgramStore
from pie_mlx.runtime.worker.draws import make_repeatable
from pie_mlx.runtime.worker.forked.child import confine_program
from pie_mlx.runtime.worker.frames.messages import Draws, LaunchSpec, ProgramLocation, WireError

Message = Replayed | WireError


def main() -> None:
    """Run the job of the last arguments. Writes a Replayed per process, or the error that prevents it."""
    text, descriptor = sys.argv[-2:]
    job, results = msgspec.json.decode(text, type=Job), int(descriptor)
    os.set_inheritable(results, False)
    try:
        recording = read_recording(Path(job.recording))
        for place, tape in enumerate(tapes(recording)):
            program = _program(job, tape, is_first=place == 0)
            _run_forked(partial(_replay, job, recording.begun, tape, program, results))
    except (PieError, OSError) as error:
        _send(results, WireError.of(error))


def _program(job: Job, tape: Tape, *, is_first: bool) -> Program:
    return recorded_program(tape.launched, job.program if is_first else "", ProgramStore(Path(job.home)))


def _run_forked(replay: Any) -> None:
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        with contextlib.suppress(KeyboardInterrupt):
            replay()
            status = 0
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    os.waitpid(pid, 0)


def _replay(job: Job, begun: Begun, tape: Tape, program: Program, results: int) -> None:
    drop_capabilities()
    confine_program(_spec(job, program), _warn, lambda: None)
    root = program.directory or program.main_file
    body = partial(ProgramBody(program), json.loads(tape.launched.input))
    run = ReplayRun(tape, body, root)
    if tape.launched.seed:
        clock = run.host.time
        draws = Draws(tape.launched.seed, begun.monotonic_ns, begun.wall_ns)
        make_repeatable(draws, clock.read, clock.pass_by)
    printed: list[str] = []
    capture = captured_output(lambda stream, text: printed.append(text)) if job.captures else contextlib.nullcontext()
    _send(results, msgspec.structs.replace(run.run(capture), output="".join(printed)))


def _warn(stream: str, text: str) -> None:
    del stream
    sys.stderr.write(text)


def _spec(job: Job, program: Program) -> LaunchSpec:
    return LaunchSpec(
        identity=program.identity,
        source=ProgramLocation.of(program),
        entry=program.manifest.runtime.entry,
        call=program.manifest.runtime.call,
        input="",
        environment=dict(os.environ) | {"HOME": job.workspace},
        workspace=job.workspace,
        lasting=False,
        scratch_max_bytes=1 << 30,
        max_memory_bytes=job.max_memory_bytes,
        max_cpu_seconds=None,
        max_open_files=job.max_open_files,
        sandbox=cast("Any", job.sandbox),
    )


def _send(results: int, message: Message) -> None:
    payload = msgspec.msgpack.encode((type(message).__name__, message))
    os.write(results, LENGTH.pack(len(payload)) + payload)
