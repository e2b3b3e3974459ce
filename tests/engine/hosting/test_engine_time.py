"""What a process costs besides its passes is counted, bounded, and kept from costing others."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pie_mlx.engine.hosting.engine_time import BURST_SECONDS, MOST_DEBT_SECONDS, SHARE, EngineTime, LoopDebt


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def threads():
    with ThreadPoolExecutor(4) as threads:
        yield threads


@pytest.fixture
def costs(threads, clock):
    return EngineTime(threads, [LoopDebt(lambda: True, clock)])


def test_a_burst_is_free(costs):
    costs.charge(BURST_SECONDS)
    assert costs.rest_seconds == 0


def test_who_uses_more_than_a_share_rests(costs, clock):
    costs.charge(BURST_SECONDS + 0.1)
    assert costs.rest_seconds == pytest.approx(0.1 / SHARE)
    clock.now += 0.1 / SHARE
    costs.charge(0)
    assert costs.rest_seconds == pytest.approx(0)


def test_the_engine_is_all_of_one_process_while_no_other_computes(threads, clock):
    costs = EngineTime(threads, [LoopDebt(lambda: False, clock)])
    costs.charge(10)
    assert (costs.rest_seconds, costs.seconds) == (0, 10)


def test_what_was_used_while_nobody_else_wanted_it_is_soon_forgotten(costs):
    costs.charge(1_000)
    assert costs.rest_seconds <= MOST_DEBT_SECONDS / SHARE


def test_all_processes_of_a_user_have_one_share_together(threads, clock):
    of_user = LoopDebt(lambda: True, clock)
    processes = [EngineTime(threads, [LoopDebt(lambda: True, clock), of_user]) for _ in range(4)]
    for process in processes:
        process.charge(BURST_SECONDS)
    assert processes[0].rest_seconds == pytest.approx(3 * BURST_SECONDS / SHARE)


async def test_a_process_uses_one_thread_at_a_time_in_the_order_of_asking(costs):
    inside, order = threading.Lock(), []

    def work(number):
        assert inside.acquire(blocking=False)
        order.append(number)
        inside.release()
        return number

    assert await asyncio.gather(*(costs.aside(work, number) for number in range(20))) == list(range(20))
    assert order == list(range(20))


async def test_giving_up_the_wait_frees_no_thread_that_still_works(costs):
    begun, go_on, ends = threading.Event(), threading.Event(), []

    def work():
        begun.set()
        go_on.wait()
        ends.append("first")

    first = asyncio.create_task(costs.aside(work))
    await asyncio.to_thread(begun.wait)
    first.cancel()
    second = asyncio.create_task(costs.aside(ends.append, "second"))
    await asyncio.sleep(0)
    go_on.set()
    await second
    assert ends == ["first", "second"]


async def test_errors_of_the_work_are_raised_and_its_time_is_counted(costs):
    def work():
        sum(range(300_000))
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await costs.aside(work)
    assert costs.seconds > 0
    debt, seconds = costs.rest_seconds, costs.seconds
    costs.count(0.5)
    assert (costs.rest_seconds, costs.seconds) == (debt, seconds + 0.5)
