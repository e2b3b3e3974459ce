"""Work for the device's thread in parts, between which other models compute."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Generic, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Pause(NamedTuple):
    """The end of a part: others may use the device. `loaded_bytes` of `total_bytes` of weights are in memory; the next
    part needs no device if it is `beside` it."""

    loaded_bytes: int = 0
    total_bytes: int = 0
    beside: bool = False


Parts = Generator[Pause, None, T]
"""Work that pauses between its parts, and gives a value."""


def at_once(begin: Callable[P, Parts[T]]) -> Callable[P, T]:
    """The same work without pauses, on the calling thread."""

    def work(*arguments: P.args, **options: P.kwargs) -> T:
        parts = begin(*arguments, **options)
        while not isinstance(ended := next_part(parts), Ended):
            pass
        return ended.value

    return work


def in_one(work: Callable[[], T]) -> Parts[T]:
    """Work as a single part."""
    yield from ()
    return work()


@dataclass(frozen=True, slots=True)
class Ended(Generic[T]):
    """The last part has given a value."""

    value: T


def next_part(parts: Parts[T]) -> Pause | Ended[T]:
    """Do the next part. Raises what it raises."""
    try:
        return next(parts)
    except StopIteration as end:
        return Ended(end.value)
