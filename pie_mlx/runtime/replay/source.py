"""The program that is run against a recording."""

from pathlib import Path

from pie_mlx.runtime.program.program import Program, find_program
from pie_mlx.runtime.recording.entries import Launched
from pie_mlx.runtime.store import ProgramStore


def recorded_program(launched: Launched, changed: str, store: ProgramStore) -> Program:
    """The program at the path `changed`, else the one at the recorded path, or the recorded source where nothing is
    there. Raises LaunchError."""
    path = Path(changed or launched.path)
    if (changed or launched.path) and path.exists():
        program = find_program(path.resolve())
    else:
        program = store.unpack(launched.source, launched.manifest)
    return store.resolved(program) if program.manifest.dependencies else program
