"""An idle engine saves what is in memory, once."""

import asyncio

import pytest

from pie_mlx.engine.paging.disk.idle import save_when_idle


async def saves(ticks: list[int]) -> list[int]:
    """The moments at which it saves, when these are the ticks so far at one idle time after the other."""
    moments: list[int] = []
    moment = 0

    async def save() -> None:
        moments.append(moment)

    async def sleep(seconds: float) -> None:
        nonlocal moment
        moment += 1
        if moment == len(ticks):
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await save_when_idle(lambda: ticks[moment], save, sleep)
    return moments


async def test_it_saves_after_an_idle_time_and_again_only_after_more_work() -> None:
    assert await saves([0, 5, 5, 5, 5, 8, 8, 8]) == [2, 6]


async def test_an_engine_that_never_worked_saves_nothing() -> None:
    assert await saves([0, 0, 0]) == []
