"""Replays a recording in an interpreter of its own."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import msgspec

from pie_mlx.errors import ProcessError
from pie_mlx.runtime.replay.job import LENGTH, Job
from pie_mlx.runtime.replay.replayed import Replayed
from pie_mlx.runtime.sandbox.interpreter import SAME_HASHES, isolated_python
from pie_mlx.runtime.worker.frames.messages import WireError
from pie_mlx.runtime.worker.settings import WorkerSettings

_BOOT = "from pie_mlx.runtime.replay.interpreter import main; main()"
_VARIABLES = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")


def replay_recording(
    recording: Path,
    program: Path | None,
    home: Path,
    settings: WorkerSettings,
    *,
    environment: Mapping[str, str],
    captures: bool = False,
) -> list[Replayed]:
    """Run the recorded processes again, the first one with the source at `program` if that is given.

    They are confined as `settings` say. What they print goes to this process's output, or into the results if that
    `captures`. Raises what prevents the replay: InvalidArgumentError, LaunchError, OSError.
    """
    workspace = tempfile.mkdtemp(prefix="pie-replay-")
    results, theirs = os.pipe()
    job = Job(
        str(recording.absolute()),
        str(program.absolute()) if program else "",
        str(home),
        os.path.realpath(workspace),
        settings.sandbox,
        settings.max_memory_bytes,
        settings.max_open_files,
        captures,
    )
    kept = {name: environment[name] for name in _VARIABLES if name in environment}
    try:
        with open(results, "rb") as found:
            try:
                interpreter = subprocess.Popen(
                    isolated_python(_BOOT, msgspec.json.encode(job).decode(), str(theirs), same_hashes=True),
                    env={**kept, **SAME_HASHES},
                    pass_fds=(theirs,),
                    stdin=subprocess.DEVNULL,
                )
            finally:
                os.close(theirs)
            try:
                return _read(found)
            finally:
                interpreter.kill()
                interpreter.wait()
    finally:
        shutil.rmtree(workspace, ignore_errors=True)


def _read(found: BinaryIO) -> list[Replayed]:
    replayed: list[Replayed] = []
    while len(head := found.read(LENGTH.size)) == LENGTH.size:
        payload = found.read(*LENGTH.unpack(head))
        kind, message = msgspec.msgpack.decode(payload, type=tuple[str, msgspec.Raw])
        if kind == "WireError":
            raise msgspec.msgpack.decode(message, type=WireError).exception()
        replayed.append(msgspec.msgpack.decode(message, type=Replayed))
    if not replayed:
        raise ProcessError("replay: the program ended its interpreter", hint="see its messages on standard error")
    return replayed
