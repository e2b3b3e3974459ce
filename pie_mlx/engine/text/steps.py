"""Work that others may interrupt between its steps."""

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")


def all_steps(steps: Generator[object, None, T]) -> T:
    """What they return, here and now."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
