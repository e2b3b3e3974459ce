"""The loop of a program stands back from the interpreter's lock, which the engine wants too."""

import asyncio

import pytest

from pie_mlx.runtime.execution.program_run import STAND_BACK_SECONDS, STRETCH_SECONDS, YieldingSelector


class _Time:
    def __init__(self) -> None:
        self.now = 0.0
        self.sleeps: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)


async def _spin(time: _Time, turns: int, seconds: float) -> None:
    """Turns that last `seconds` each, with nothing but `sleep(0)` between them."""
    for _ in range(turns):
        time.now += seconds
        await asyncio.sleep(0)


def _run(time: _Time, turns: int, seconds: float) -> None:
    with asyncio.Runner(
        loop_factory=lambda: asyncio.SelectorEventLoop(YieldingSelector(time.clock, time.sleep))
    ) as run:
        run.run(asyncio.sleep(1e-3))  # it has waited
        time.sleeps.clear()
        run.run(_spin(time, turns, seconds))


@pytest.mark.parametrize("each", [1, 10, 50])
def test_a_program_that_never_waits_stands_back_once_per_stretch(each: int):
    time = _Time()
    _run(time, turns=10 * each, seconds=STRETCH_SECONDS / each * 1.001)
    assert 9 <= len(time.sleeps) <= 10
    assert set(time.sleeps) == {STAND_BACK_SECONDS}


def test_a_program_that_soon_waits_never_stands_back():
    time = _Time()
    _run(time, turns=5, seconds=STRETCH_SECONDS / 10)
    assert time.sleeps == []
