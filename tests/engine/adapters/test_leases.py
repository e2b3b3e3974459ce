"""The weights that passes are computed with stay until the last of those passes has ended."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from inferlet import Context
from pie_mlx.engine.scheduler.tick_state import TickState
from tests.engine.adapters.test_adapters import Folder, close, loaded, logits, versions, written
from tests.engine.running import Running, running


def on_loop(engine: Running, do: Callable[..., Awaitable[Any]], *arguments: Any) -> "concurrent.futures.Future[Any]":
    """Begins something on the engine's loop."""

    async def work() -> Any:
        return await do(*arguments)

    return asyncio.run_coroutine_threadsafe(work(), engine.core.loop)


async def in_batch(engine: Running) -> list[bool]:
    """Of every pass that is under way, whether it is on the device."""
    return await engine.core.consult(lambda _: [one.in_batch for one in engine.part(TickState).passes.values()])


async def test_weights_that_a_waiting_pass_will_be_computed_with_are_not_dropped(folder: Folder) -> None:  # A1
    with running(max_batch_contexts=1) as engine:
        adapter, registry = loaded(engine, folder(1)), engine.core.services.adapters
        with Context(engine.model) as alone:
            expected = await logits(alone, adapter)
        device_is_free = threading.Event()
        on_loop(engine, engine.core.services.runner.call, device_is_free.wait)
        try:
            async with asyncio.timeout(10):
                before = asyncio.create_task(logits(Context(engine.model), None))
                while await in_batch(engine) != [True]:
                    pass
                waiting = asyncio.create_task(logits(Context(engine.model), adapter))
                while await in_batch(engine) != [True, False]:
                    pass
            destroyed = on_loop(engine, registry.destroy, registry.find("tester", adapter.id))
            await engine.core.consult(lambda services: None)  # what is to be dropped is on its way to the device
        finally:
            device_is_free.set()
        await asyncio.gather(before, asyncio.wrap_future(destroyed))
        assert close(await waiting, expected)


async def test_a_sweep_drops_weights_once_the_last_pass_with_them_has_ended(engine: Running, folder: Folder) -> None:
    adapter, registry = loaded(engine, folder(1)), engine.core.services.adapters

    async def left() -> list[int]:
        found: list[int] = []
        with registry.used("tester", adapter.id, 0):
            with registry.used("tester", adapter.id, 0):
                await registry.destroy(registry.find("tester", adapter.id))
                found.append(len(versions(engine)))
            await registry.sweep()
            found.append(len(versions(engine)))
        await registry.sweep()
        return [*found, len(versions(engine))]

    assert on_loop(engine, left).result() == [1, 1, 0]


async def test_a_pass_that_ended_leaves_nothing_of_its_lease(engine: Running, folder: Folder) -> None:
    adapter = loaded(engine, folder(1))
    await written(engine, adapter)
    engine.core.services.adapters.check_integrity()
    adapter.destroy()
    assert versions(engine) == set()


async def test_weights_of_a_destroyed_adapter_go_with_the_last_context_they_computed(  # R5
    engine: Running, folder: Folder
) -> None:
    adapter, registry = loaded(engine, folder(1)), engine.core.services.adapters
    with Context(engine.model) as context:
        await logits(context, adapter)
        on_loop(engine, registry.destroy, registry.find("tester", adapter.id)).result()
        assert len(versions(engine)) == 1
    assert versions(engine) == set()
