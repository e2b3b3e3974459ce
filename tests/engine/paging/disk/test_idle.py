"""An idle engine saves what is in memory, once."""

import asyncio
from collections.abc import Callable

import pytest

from pie_mlx.engine.paging.disk.idle import save_when_idle


async def saves(ticks: list[int]) -> list[int]:
    """The moments at which it saves, when these are the ticks so far at one idle time after the other."""
    moments: list[int] = []
    moment = 0

    async def save(goes_on: Callable[[], bool]) -> None:
        assert goes_on()
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


async def test_work_that_begins_meanwhile_ends_a_save_and_is_saved_with_what_is_left() -> None:
    ticks, saves = 3, 0

    async def save(goes_on: Callable[[], bool]) -> None:
        nonlocal ticks, saves
        saves += 1
        if saves == 1:
            ticks += 1
            assert not goes_on()
        else:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await save_when_idle(lambda: ticks, save, lambda seconds: asyncio.sleep(0))
    assert saves == 2
