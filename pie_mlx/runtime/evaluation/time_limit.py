"""Ends a computation that takes too long: a regular expression of a data set may need years for a short text."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def time_limit(seconds: float) -> Generator[None]:
    """Raise TimeoutError in the block once it has taken that long. Only the main thread can be interrupted so: on
    others nothing is limited."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGALRM, _time_is_up)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


def _time_is_up(number: int, frame: FrameType | None) -> None:
    raise TimeoutError
