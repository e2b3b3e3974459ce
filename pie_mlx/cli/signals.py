"""Ctrl-C and SIGTERM where there is nothing to clean up."""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from pie_mlx.cli.reporting import INTERRUPTED

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SHOW_CURSOR = "\x1b[?25h"


def end_at_once_when_interrupted() -> None:
    """A signal ends the command where it stands, in the middle of an import too."""
    for number in SIGNALS:
        signal.signal(number, end_at_once)


def end_at_once(number: int, frame: FrameType | None) -> NoReturn:
    """A signal handler that leaves the terminal usable and the process."""
    del number, frame
    if sys.stderr.isatty():
        sys.stderr.write(_SHOW_CURSOR)
        sys.stderr.flush()
    os._exit(INTERRUPTED)
