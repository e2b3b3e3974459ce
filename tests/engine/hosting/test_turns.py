"""Long work of several programs: whose step comes next."""

import asyncio
import threading
from collections.abc import Generator

import pytest

from pie_mlx.engine.hosting.turns import Turns


@pytest.fixture
def turns():
    made = Turns(1, "turns")
    yield made
    made.close()


def counting(order: list[str], name: str, steps: int) -> Generator[None, None, str]:
    for _ in range(steps):
        order.append(name)
        yield
    return name


async def test_programs_take_turns_step_by_step(turns: Turns) -> None:
    order: list[str] = []
    async with asyncio.TaskGroup() as group:
        for name in ("a", "a", "b"):
            group.create_task(turns.run(name, counting(order, name, 2)))
    assert sorted(order) == ["a"] * 4 + ["b"] * 2
    assert "a" in order[order.index("b") + 1 : len(order) - order[::-1].index("b")]  # between the steps of b


async def test_work_that_is_cancelled_ends_after_its_step(turns: Turns) -> None:
    order: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def long() -> Generator[None, None, None]:
        while True:
            order.append("a")
            begun.set()
            go_on.wait()
            yield

    task = asyncio.create_task(turns.run("a", long()))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    go_on.set()
    assert await turns.run("b", counting(order, "b", 1)) == "b"
    assert order == ["a", "b"]


async def test_one_program_has_one_step_at_a_time() -> None:
    turns, together = Turns(2, "turns"), threading.Barrier(2)
    held = threading.Event()

    def waits() -> Generator[None, None, None]:
        held.wait()
        return
        yield

    def meets() -> Generator[None, None, None]:
        together.wait()
        return
        yield

    many = [asyncio.create_task(turns.run("a", waits())) for _ in range(5)]
    asking = asyncio.create_task(turns.run("b", meets()))
    await asyncio.get_running_loop().run_in_executor(None, together.wait)  # b has a thread, however much a wants
    held.set()
    await asyncio.gather(*many, asking)
    turns.close()


async def test_what_a_step_raises_is_raised(turns: Turns) -> None:
    def fails() -> Generator[None, None, None]:
        yield
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await turns.run("a", fails())
