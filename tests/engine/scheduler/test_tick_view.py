"""What the planner is shown of the engine."""

import asyncio

from inferlet import Context
from pie_mlx.engine.policies import Limits
from pie_mlx.engine.scheduler.restoring import Restorer
from pie_mlx.engine.scheduler.tick_state import TickState
from pie_mlx.engine.scheduler.tick_view import tick_view
from tests.engine.running import running
from tests.engine.scheduler.test_patience import occupy_device

LIMITS = Limits(max_batch_contexts=1)


async def test_a_context_that_is_being_restored_keeps_its_place() -> None:  # Q2
    with running(total_pages=16, max_batch_contexts=1) as engine:
        services = engine.core.services
        on_device, early, late = contexts = [Context(engine.model).append(engine.prompt(20, seed)) for seed in range(3)]
        for context in contexts:
            await context.flush()
            context.append(engine.prompt(3))

        async def arrivals_while_early_is_restored() -> dict[int, int]:
            state, store = engine.part(TickState), services.store
            engine.part(Restorer).suspend(state.contexts[early.id])
            everything = store.pool.available()
            store.working.reserve(late.id, everything)
            store.working.release(late.id, everything)
            engine.part(Restorer).begin(state.contexts[early.id])
            assert early.id in state.restorations
            view = tick_view(state, services.accounting, lambda passes: (passes, LIMITS))
            return {item.context: item.arrival for item in view.contexts}

        device_is_free = occupy_device(engine)
        try:
            flushes: list[asyncio.Task[None]] = []
            for context in (on_device, early, late):
                flushes.append(asyncio.create_task(context.flush()))
                while len(engine.part(TickState).passes) < len(flushes):  # noqa: ASYNC110 - calls tell nobody they are here
                    await asyncio.sleep(0)
            looking = asyncio.run_coroutine_threadsafe(arrivals_while_early_is_restored(), engine.core.loop)
            arrivals = await asyncio.wrap_future(looking)
        finally:
            device_is_free.set()
        await asyncio.gather(*flushes)
    assert arrivals[early.id] < arrivals[late.id]
