"""More programs than pages: everybody waits, nobody is lost."""

import asyncio

import pytest

from inferlet import Context
from pie_mlx.engine.scheduler.restoring import Restorer
from pie_mlx.engine.scheduler.tick_state import TickState
from pie_mlx.errors import OutOfPagesError
from tests.engine.running import Running, finished, in_context, running
from tests.engine.scheduler.test_patience import occupy_device

pytestmark = pytest.mark.usefixtures("random_model")


async def write_alone(engine: Running, seed: int, prompt: int, tokens: int) -> list[int]:
    with Context(engine.model) as context:
        context.append(engine.prompt(prompt, seed))
        return await engine.greedy(context, tokens)


async def test_a_suspended_context_goes_on_as_if_nothing_had_happened(engine: Running) -> None:  # R7
    expected = await write_alone(engine, 11, 40, 24)
    context = Context(engine.model)
    context.append(engine.prompt(40, 11))
    first = await engine.greedy(context, 12)
    length = context.seq_len
    context.suspend()
    context.suspend()
    assert engine.store.contexts[context.id].resident is False
    assert context.seq_len == length
    assert first + await engine.greedy(context, 12) == expected


async def test_lost_pages_are_computed_again(engine: Running) -> None:  # R4, T15
    with running(total_pages=12) as small:
        expected = await write_alone(small, 1, 40, 24)
        context = Context(small.model)
        context.append(small.prompt(40, 1))
        first = await small.greedy(context, 12)
        context.suspend()
        with Context(small.model) as other:
            other.inner().reserve_working_pages(12)
        assert first + await small.greedy(context, 12) == expected


async def test_forking_a_suspended_context_gives_its_tokens(engine: Running) -> None:  # P14
    expected = await write_alone(engine, 12, 40, 12)
    context = Context(engine.model)
    context.append(engine.prompt(40, 12)[:-1])
    await context.flush()
    context.append(engine.prompt(40, 12)[-1:])
    context.suspend()
    child = context.fork()
    context.release()
    assert child.seq_len == 39
    assert await engine.greedy(child, 12) == expected


PROGRAMS = 24


@pytest.fixture(scope="module")
def written_alone() -> dict[int, list[int]]:
    """What each program writes when it has the engine to itself."""
    with running() as roomy:
        return {seed: finished(in_context(roomy, write_alone(roomy, seed, 30, 8))) for seed in range(PROGRAMS)}


@pytest.mark.parametrize("policy", ["fcfs", "market", "priority"])
async def test_three_times_more_programs_than_fit_all_finish(  # Q7
    policy: str, written_alone: dict[int, list[int]]
) -> None:
    with running(total_pages=PROGRAMS, policy=policy) as small:

        async def program(seed: int) -> list[int]:
            with small.process():
                return await write_alone(small, seed, 30, 8)

        written = await asyncio.gather(*(program(seed) for seed in range(PROGRAMS)))
        assert dict(enumerate(written)) == written_alone
        assert small.used_pages() == 0


async def test_a_holder_of_most_of_the_pool_makes_way(engine: Running) -> None:  # Q7
    with running(total_pages=16) as small:
        expected = await write_alone(small, 3, 60, 20)
        hoard = Context(small.model)
        hoard.append(small.prompt(200, 2))
        await hoard.flush()
        assert await write_alone(small, 3, 60, 20) == expected
        assert hoard.seq_len == 200


async def test_a_newcomer_takes_no_pages_before_a_pass_whose_context_was_suspended() -> None:  # Q4
    with running(total_pages=16, max_batch_contexts=1) as engine:
        queue, store = engine.core.services.queue, engine.store
        on_device, early, newcomer = (Context(engine.model).append(engine.prompt(20, seed)) for seed in range(3))
        await early.flush()
        early.append(engine.prompt(3))

        async def ask_while_early_is_suspended() -> tuple[int, bool, "asyncio.Task[None]"]:
            state, number = engine.part(TickState), newcomer.id
            engine.part(Restorer).suspend(state.contexts[early.id])
            asking = asyncio.create_task(
                queue.with_pages(state.contexts[number], 1, lambda: store.working.reserve(number, 1))
            )
            await asyncio.sleep(0)
            return queue.spare_pages(), asking.done(), asking

        device_is_free = occupy_device(engine)
        try:
            flushes: list[asyncio.Task[None]] = []
            flushes.append(asyncio.create_task(on_device.flush()))
            passes = engine.part(TickState).passes
            while not any(item.in_batch for item in list(passes.values())):  # noqa: ASYNC110 - a call of another loop
                await asyncio.sleep(0)
            flushes.append(asyncio.create_task(early.flush()))
            while len(passes) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0)
            asked = asyncio.run_coroutine_threadsafe(ask_while_early_is_suspended(), engine.core.loop)
            spare_pages, granted, asking = await asyncio.wrap_future(asked)
        finally:
            device_is_free.set()
        await asyncio.gather(*flushes)
        while not asking.done():  # noqa: ASYNC110 - a task of another loop
            await asyncio.sleep(0)
    assert (spare_pages, granted) == (0, False)


async def test_nobody_is_suspended_during_its_pass_and_who_needs_its_pages_gets_them_after_it() -> None:  # T24
    with running(total_pages=16) as engine:
        queue, store = engine.core.services.queue, engine.store
        holder, requester = (Context(engine.model).append(engine.prompt(20, seed)) for seed in range(2))
        state, number = engine.part(TickState), requester.id

        async def ask_for_all() -> tuple[bool, bool, "asyncio.Task[None]"]:
            asking = asyncio.create_task(
                queue.with_pages(state.contexts[number], 16, lambda: store.working.reserve(number, 16))
            )
            for _ in range(20):
                await asyncio.sleep(0)
            return store.contexts[holder.id].resident, asking.done(), asking

        device_is_free = occupy_device(engine)
        try:
            flush = asyncio.create_task(holder.flush())
            while not any(item.in_batch for item in list(state.passes.values())):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0)
            asked = asyncio.run_coroutine_threadsafe(ask_for_all(), engine.core.loop)
            resident, granted, asking = await asyncio.wrap_future(asked)
        finally:
            device_is_free.set()
        await flush
        while not asking.done():  # noqa: ASYNC110 - a task of another loop
            await asyncio.sleep(0)
        assert (resident, granted) == (True, False)
        assert (store.contexts[holder.id].resident, holder.seq_len, store.usage().used) == (False, 20, 16)


async def test_a_request_beyond_the_pool_is_refused_at_once() -> None:  # T26
    with running(total_pages=16) as small, pytest.raises(OutOfPagesError):
        Context(small.model).inner().reserve_working_pages(17)


async def test_a_prompt_longer_than_the_pool_is_refused_and_stays_in_the_buffer() -> None:  # P4, E3
    with running(total_pages=8) as small:
        context = Context(small.model)
        tokens = small.prompt(8 * 16 + 1)
        context.append(tokens)
        with pytest.raises(OutOfPagesError):
            await context.flush()
        assert context.buffer() == tokens
        assert small.used_pages() == 0
