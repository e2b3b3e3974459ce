"""Makes what a program draws repeatable, in a process of its own: random numbers and the time.

What C code draws is not replaced.
"""

import datetime
import os
import random
import time
from asyncio import base_events
from collections.abc import Callable
from typing import Any

from pie_mlx.runtime.worker.frames.messages import Draws

NowNs = Callable[[], int]
"""Nanoseconds since the clocks began."""


def make_repeatable(draws: Draws, now_ns: NowNs, sleep: Callable[[float], None] | None = None) -> None:
    """Replace the clocks and the sources of random numbers of this interpreter, and `time.sleep`, if given."""
    _replace_random(draws.seed)
    _replace_clocks(draws, now_ns)
    if sleep is not None:
        time.sleep = sleep


def since(began_ns: int) -> NowNs:
    """The real clock, also after it has been replaced."""
    monotonic_ns = time.monotonic_ns
    return lambda: monotonic_ns() - began_ns


def reported(report: Callable[[int], None], now_ns: NowNs) -> NowNs:
    """The same clock; each reading is reported before the program gets it."""

    def read() -> int:
        time_ns = now_ns()
        report(time_ns)
        return time_ns

    return read


def _replace_random(seed: int) -> None:
    source = random.Random(seed)
    random.seed(source.getrandbits(64))

    def urandom(size: int, /) -> bytes:
        return source.randbytes(size)

    os.urandom = urandom
    random._urandom = urandom  # pyright: ignore[reportAttributeAccessIssue] - of SystemRandom, which secrets uses
    seed_of = random.Random.seed

    def seeded(self: random.Random, a: Any = None, version: int = 2) -> None:
        seed_of(self, source.getrandbits(64) if a is None else a, version)

    random.Random.seed = seeded


def _replace_clocks(draws: Draws, now_ns: NowNs) -> None:
    monotonic = time.monotonic
    # The loop's own timers are no readings of the program.
    base_events.BaseEventLoop.time = lambda self: monotonic()  # pyright: ignore[reportUnknownLambdaType]
    gmtime, localtime, strftime = time.gmtime, time.localtime, time.strftime

    def wall_ns() -> int:
        return draws.wall_ns + now_ns()

    def monotonic_ns() -> int:
        return draws.began_ns + now_ns()

    def wall() -> float:
        return wall_ns() / 1e9

    def dated(format: str, *when: Any) -> str:
        return strftime(format, *(when or (time.localtime(),)))

    time.time, time.time_ns = wall, wall_ns
    for name in ("monotonic", "perf_counter"):
        setattr(time, name, lambda: monotonic_ns() / 1e9)
        setattr(time, f"{name}_ns", monotonic_ns)
    time.gmtime = lambda seconds=None, /: gmtime(wall() if seconds is None else seconds)
    time.localtime = lambda seconds=None, /: localtime(wall() if seconds is None else seconds)
    time.strftime = dated
    _replace_dates(wall)


def _replace_dates(wall: Callable[[], float]) -> None:
    """Stand-ins whose instances are of the real classes; only what reads the clock differs."""
    real_date, real_datetime = datetime.date, datetime.datetime

    class StandIn(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, cls.__mro__[1])

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, cls.__mro__[1])

    class Date(real_date, metaclass=StandIn):
        def __new__(cls, *args: Any, **named: Any) -> Any:
            return real_date(*args, **named)

        @classmethod
        def today(cls) -> Any:
            return real_date.fromtimestamp(wall())

    class DateTime(real_datetime, metaclass=StandIn):
        def __new__(cls, *args: Any, **named: Any) -> Any:
            return real_datetime(*args, **named)

        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:
            return real_datetime.fromtimestamp(wall(), tz)

        @classmethod
        def utcnow(cls) -> Any:
            return real_datetime.fromtimestamp(wall(), datetime.UTC).replace(tzinfo=None)

        @classmethod
        def today(cls) -> Any:
            return real_datetime.fromtimestamp(wall())

    for stand_in, name in ((Date, "date"), (DateTime, "datetime")):
        stand_in.__name__ = stand_in.__qualname__ = name
        stand_in.__module__ = "datetime"
        setattr(datetime, name, stand_in)
