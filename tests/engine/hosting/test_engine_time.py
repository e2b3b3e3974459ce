"""What a process costs besides its passes is counted, bounded, and kept from costing others."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from pie_mlx.engine.hosting.engine_time import (
    BURST_SECONDS,
    MOST_DEBT_SECONDS,
    MOST_DEBTORS,
    SHARE,
    EngineTime,
    LoopDebt,
    LoopShares,
    ShareTerms,
    metered,
)


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


async def test_work_is_timed_without_its_waits(clock):
    steps, go_on = list[float](), asyncio.Event()

    async def work():
        clock.now += 1
        await go_on.wait()
        clock.now += 2
        return "done"

    task = asyncio.ensure_future(task_of(metered(work(), steps.append, clock)))
    await asyncio.sleep(0)
    clock.now += 10
    go_on.set()
    assert await task == "done"
    assert steps == [1, 2]


async def test_work_that_is_cancelled_cleans_up_on_its_time(clock):
    steps = list[float]()

    async def work():
        try:
            await asyncio.Event().wait()
        finally:
            clock.now += 3

    task = asyncio.ensure_future(task_of(metered(work(), steps.append, clock)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert steps == [0, 3]


async def task_of(work):
    return await work


async def test_a_user_rests_after_more_than_its_share_while_others_have_programs(clock):
    busy = {"ada"}
    shares = LoopShares(lambda user: bool(busy - {user}), clock)

    async def work():
        clock.now += BURST_SECONDS + 0.1

    for user in ("mallory", "ada"):
        await shares.charging(user, work)
    assert (shares.rest_seconds("mallory") > 0, shares.rest_seconds("ada")) == (True, 0)
    busy.clear()
    assert shares.rest_seconds("mallory") == 0


def test_shares_on_other_terms_begin_anew_for_the_same_others(clock):
    shares = LoopShares(lambda user: user == "mallory", clock)
    shares.charge("mallory", MOST_DEBT_SECONDS)
    others = shares.on(ShareTerms(share=1 / 8, burst_seconds=0.175))
    assert others.rest_seconds("mallory") == 0.0
    others.charge("mallory", 0.3)
    others.charge("ada", 0.3)
    assert others.rest_seconds("mallory") == pytest.approx(1.0)
    assert others.rest_seconds("ada") == 0.0


async def test_a_user_pays_for_what_is_done_for_it_on_another_thread(clock):
    shares = LoopShares(lambda user: True, clock)

    def work(seconds):
        begun = time.thread_time()
        while time.thread_time() < begun + seconds:
            pass
        return "done"

    assert await shares.aside("mallory", work, 1.1 * BURST_SECONDS) == "done"
    assert shares.rest_seconds("mallory") > 0


async def test_what_fails_on_another_thread_is_paid_for_and_raised(clock):
    shares = LoopShares(lambda user: True, clock)
    with pytest.raises(ZeroDivisionError):
        await shares.aside("mallory", lambda: 1 / 0)
    assert len(shares) == 1


async def test_what_goes_on_after_its_client_has_left_is_paid_for(clock):
    begun, go_on, charged = threading.Event(), threading.Event(), asyncio.Event()

    def work():
        begun.set()
        go_on.wait()

    def note():
        charged.set()
        return clock.now

    shares = LoopShares(lambda user: True, note)

    left = asyncio.create_task(shares.aside("mallory", work))
    await asyncio.to_thread(begun.wait)
    left.cancel()
    go_on.set()
    await charged.wait()
    assert len(shares) == 1


async def test_of_many_users_those_are_remembered_who_should_rest(clock):
    shares = LoopShares(lambda user: True, clock)

    async def work(seconds):
        clock.now += seconds

    for number in range(3 * MOST_DEBTORS):
        await shares.charging(str(number), partial(work, 0 if number else 1))
    assert shares.rest_seconds("0") > 0
    assert len(shares) <= MOST_DEBTORS
