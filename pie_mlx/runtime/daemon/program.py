"""Programs that come with the engine."""

from pathlib import Path

import pie_mlx
from pie_mlx.runtime.program import Program, find_program

BUILTIN = Path(pie_mlx.__file__).parent / "builtin"


def builtin_program(name: str) -> Program:
    """One of them. Its directory can be copied and changed."""
    return find_program(BUILTIN / name)
