"""Ctrl-C, SIGTERM and a terminal that closes, where there is nothing to clean up."""

import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from pie_mlx.cli.terminal.errors import INTERRUPTED

_STANDARD_ERROR = 2
_SHOW_CURSOR = b"\x1b[?25h\n"


def ending_signals() -> tuple[int, ...]:
    """Signals that end a command; SIGHUP only where `nohup` or a shell has not turned it off."""
    hangs_up = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
    return (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hangs_up else []))


@contextmanager
def handled_by(handler: Callable[[int, FrameType | None], None]) -> Generator[None]:
    """Have `handler` take the ending signals. Only for the main thread."""
    previous = {number: signal.signal(number, handler) for number in ending_signals()}
    try:
        yield
    finally:
        for number, earlier in previous.items():
            signal.signal(number, earlier)


def end_at_once_when_interrupted() -> None:
    """From now on a signal ends the command at once, even during an import."""
    for number in ending_signals():
        signal.signal(number, end_at_once)


def end_at_once(number: int, frame: FrameType | None) -> NoReturn:
    """A signal handler that restores the cursor and exits."""
    del number, frame
    # Not through sys.stderr: while a progress line is shown, text written there is escaped.
    if os.isatty(_STANDARD_ERROR):
        os.write(_STANDARD_ERROR, _SHOW_CURSOR)
    os._exit(INTERRUPTED)
