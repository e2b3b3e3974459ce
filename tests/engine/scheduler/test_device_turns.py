"""The device between models."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.scheduler.device_turns import LARGEST_RATIO, DeviceTurns, TurnRequest, next_turn


def requests(worths: list[float]) -> list[TurnRequest]:
    loop = asyncio.new_event_loop()
    try:
        return [TurnRequest(worth, 0, loop.create_future()) for worth in worths]
    finally:
        loop.close()


def test_the_model_whose_work_is_worth_most_is_first() -> None:
    low, high = requests([1.0, 3.0])
    assert next_turn([low, high]) is high


def test_a_model_whose_work_is_worth_thrice_as_much_gets_at_least_two_turns_for_each_of_the_other() -> None:
    low, high = requests([1.0, 3.0])
    served = {low: 0, high: 0}
    for _ in range(400):
        chosen = next_turn([low, high])
        served[chosen] += 1
        for request in (low, high):
            request.passed = 0 if request is chosen else request.passed + 1
    assert 2 * served[low] <= served[high] <= 3 * served[low]


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=6))
def test_no_model_waits_longer_than_the_stated_bound(worths: list[float]) -> None:
    waiting = requests(worths)
    for _ in range(300):
        chosen = next_turn(waiting)
        for request in waiting:
            request.passed = 0 if request is chosen else request.passed + 1
            assert request.passed <= LARGEST_RATIO * (len(waiting) - 1)


async def test_a_turn_ends_before_the_next_one_begins() -> None:
    turns, order = DeviceTurns(), list[str]()

    async def work(model: str) -> None:
        for _ in range(3):
            await turns.take(model, 1.0)
            order.append(f"{model} begins")
            await asyncio.sleep(0)
            order.append(f"{model} ends")
        turns.give(model)

    await asyncio.gather(work("a"), work("b"))
    begins, ends = order[::2], order[1::2]
    assert [one.split()[0] for one in begins] == [one.split()[0] for one in ends]
    assert [one.split()[0] for one in begins] == ["a", "b"] * 3


async def test_a_wait_that_is_given_up_holds_nobody_up() -> None:
    turns = DeviceTurns()
    await turns.take("a", 1.0)
    given_up = asyncio.create_task(turns.take("b", 9.0))
    waits = asyncio.create_task(turns.take("c", 1.0))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)
    turns.leave("a")
    assert await waits
    assert not turns.is_wanted
