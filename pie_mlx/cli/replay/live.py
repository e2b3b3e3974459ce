"""`pie replay --live`: the recording, and then an engine of its own."""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from pie_mlx.cli.engine.model_settings import requested_settings
from pie_mlx.cli.options import Common
from pie_mlx.cli.programs.installed import local_store
from pie_mlx.cli.run.dispatch import permitting_config
from pie_mlx.cli.run.frontend import frontend_for
from pie_mlx.cli.run.local import LocalRun
from pie_mlx.cli.run.request import RunRequest
from pie_mlx.cli.terminal.errors import INTERRUPTED
from pie_mlx.cli.terminal.interrupts import run_interruptible
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.runtime.recording.entries import Launched
from pie_mlx.runtime.recording.file import Recording, read_recording
from pie_mlx.runtime.replay.live import live_draws
from pie_mlx.runtime.replay.source import recorded_program


@dataclass(frozen=True, slots=True)
class LiveRequest:
    """One use of `pie replay --live`. `program` is the changed source, `model` replaces the recorded one."""

    recording: Path
    program: Path | None
    model: str | None
    dummy: bool
    mcp: Path | None


def run_live(asked: LiveRequest, common: Common) -> int:
    """Run the first recorded program, live from where it differs, and return the exit code of `pie run`."""
    recording = read_recording(asked.recording)
    launched = _first(recording, asked.recording)
    request = RunRequest(
        path=asked.program or Path(launched.path),
        model=asked.model or recording.begun.model or None,
        dummy=asked.dummy,
        mcp=asked.mcp,
        in_worker=True,
    )
    config = permitting_config(request, common)
    run = LocalRun(
        recorded_program(launched, str(asked.program or ""), local_store(config.auth)),
        msgspec.json.decode(launched.input),
        requested_settings(request.model, dummy=asked.dummy, common=common),
        config,
        frontend_for(request, common),
        request,
        [],
        common,
        draws=live_draws(asked.recording, recording.begun, launched),
    )
    try:
        return run_interruptible(run.run)
    except KeyboardInterrupt:
        return INTERRUPTED


def _first(recording: Recording, path: Path) -> Launched:
    for entry in recording.entries:
        if isinstance(entry, Launched):
            return entry
    raise InvalidArgumentError(f"{path}: it has no program", hint="record a run with 'pie run --record'")
