"""Programs that come with the engine."""

import contextlib
from pathlib import Path

import pie_mlx
from pie_mlx.config.user_names import RESERVED_USER
from pie_mlx.errors import LaunchError
from pie_mlx.runtime.program.program import Program, find_program
from pie_mlx.runtime.store import ProgramStore

BUILTIN = Path(pie_mlx.__file__).parent / "builtin"
NAMES = ("openai", "text-completion")


def builtin_program(name: str) -> Program:
    """A built-in program. Its directory can be copied and changed."""
    return find_program(BUILTIN / name)


def install_builtins(programs: ProgramStore) -> None:
    """Install the built-in programs of this version, except where a user has installed one of that name."""
    for name in NAMES:
        version = str(builtin_program(name).manifest.version)
        if _is_ours(programs, name, version):
            with contextlib.suppress(LaunchError):  # a user's program has the same name in another case
                programs.install_path(BUILTIN / name, owner=RESERVED_USER, force=True)


def _is_ours(programs: ProgramStore, name: str, version: str) -> bool:
    """Whether the name is free, or belongs to an earlier version of ours."""
    found = (record for record in programs.listing() if (record.name, record.version) == (name, version))
    return all(record.owner == RESERVED_USER for record in found)
