"""Tracebacks as the author of a program wants to read them."""

import asyncio
import concurrent.futures
import sys
from pathlib import Path
from traceback import FrameSummary, StackSummary, TracebackException

from pie_mlx.errors import LaunchError, PieError

_PACKAGE = str(Path(__file__).parents[1])
_MACHINERY = (_PACKAGE, *asyncio.__path__, *concurrent.futures.__path__, "<frozen importlib")


def print_traceback(error: BaseException) -> None:
    """Write it to standard error: from the program's first line on, and for our own errors only the program's lines.

    The same holds for the errors that led to it. A LaunchError has no lines of the program.
    """
    if isinstance(error, LaunchError):
        return
    found = TracebackException.from_exception(error)
    _shorten(found, error)
    sys.stderr.write("".join(found.format()))


def _shorten(found: TracebackException | None, error: BaseException | None) -> None:
    chain = [(found, error)]
    while chain:
        found, error = chain.pop()
        if found is not None and error is not None:
            found.stack = StackSummary.from_list(_relevant(list(found.stack), isinstance(error, PieError)))
            chain += [(found.__cause__, error.__cause__), (found.__context__, error.__context__)]


def _relevant(frames: list[FrameSummary], ours: bool) -> list[FrameSummary]:
    first = next((i for i, frame in enumerate(frames) if not _is_machinery(frame)), len(frames))
    return [frame for frame in frames[first:] if not (ours and _is_machinery(frame))]


def _is_machinery(frame: FrameSummary) -> bool:
    return frame.filename.startswith(_MACHINERY)
