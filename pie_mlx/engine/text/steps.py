"""Work that others may interrupt between its steps."""

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")


def all_steps(steps: Generator[object, None, T]) -> T:
    """Run all steps without pausing; return the result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
