"""`wasi:clocks`."""

import asyncio
import time
from functools import partial

from pie_mlx.wasm.offers import Interface
from pie_mlx.wasm.waiting import Eventually
from pie_mlx.wasm.wasi.poll import Pollable

_SECOND_NS = 10**9

Datetime = tuple[int, int]
"""Seconds since 1970, and nanoseconds."""


def as_datetime(time_ns: int) -> Datetime:
    return divmod(max(time_ns, 0), _SECOND_NS)


def subscribe_duration(duration_ns: int) -> Pollable:
    return Pollable(Eventually(partial(asyncio.sleep, duration_ns / _SECOND_NS)).pending)


def subscribe_instant(when_ns: int) -> Pollable:
    return subscribe_duration(max(0, when_ns - time.monotonic_ns()))


def _monotonic() -> Interface:
    def now() -> int:
        return time.monotonic_ns()

    def resolution() -> int:
        return 1

    return Interface("wasi:clocks/monotonic-clock", (now, resolution, subscribe_instant, subscribe_duration))


def _wall() -> Interface:
    def now() -> Datetime:
        return as_datetime(time.time_ns())

    def resolution() -> Datetime:
        return 0, 1

    return Interface("wasi:clocks/wall-clock", (now, resolution))


INTERFACES = (_monotonic(), _wall())
