"""Tracebacks for the author of a program: without frames of the engine."""

import asyncio
import concurrent.futures
import importlib
import sys
from pathlib import Path
from traceback import FrameSummary, StackSummary, TracebackException

import inferlet
from pie_mlx.errors import LaunchError, PieError
from pie_mlx.runtime.execution.outcome import as_imported
from pie_mlx.syntax import parsing

_RUNTIME = Path(__file__).parents[1]
_LIBRARIES = (inferlet, asyncio, concurrent.futures, importlib)
_MACHINERY = (str(_RUNTIME.parent), *(path for one in _LIBRARIES for path in one.__path__), "<frozen importlib")
_BETWEEN = tuple(str(_RUNTIME / name) for name in ("program/modules.py", "sandbox/scratch.py", "execution/entry.py"))
"""Frames between a program's `import` and the imported module, between its file calls and the system's, and below its
input."""


def print_traceback(error: BaseException) -> None:
    """Print to standard error: frames from the program's first on, and for our own errors only frames of the program.

    The same applies to chained errors; those wholly inside the engine are left out. A LaunchError, or an error of ours
    without a frame of the program, is not printed.
    """
    found = TracebackException.from_exception(error)
    _shorten(found, error)
    if not isinstance(error, LaunchError) and (found.stack or not isinstance(error, PieError)):
        with parsing():  # for the marks under what failed
            lines = list(found.format())
        sys.stderr.write(as_imported("".join(lines)))


def _shorten(found: TracebackException, error: BaseException) -> None:
    chain = [(found, error)]
    while chain:
        found, error = chain.pop()
        found.stack = StackSummary.from_list(_relevant(list(found.stack), isinstance(error, PieError)))
        found.__cause__, found.__context__ = _outside(found.__cause__), _outside(found.__context__)
        if found.__cause__ and error.__cause__:
            chain.append((found.__cause__, error.__cause__))
        if found.__context__ and error.__context__:
            chain.append((found.__context__, error.__context__))


def _outside(found: TracebackException | None) -> TracebackException | None:
    """None for an error wholly inside the engine."""
    return found if found and not all(map(_is_machinery, found.stack)) else None


def _relevant(frames: list[FrameSummary], ours: bool) -> list[FrameSummary]:
    first = next((i for i, frame in enumerate(frames) if not _is_machinery(frame)), len(frames))
    return [frame for frame in frames[first:] if not (_is_machinery(frame) if ours else frame.filename in _BETWEEN)]


def _is_machinery(frame: FrameSummary) -> bool:
    return frame.filename.startswith(_MACHINERY)
