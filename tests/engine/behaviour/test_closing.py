"""A process is closed, and an engine stopped, once and wholly: also when whoever asked for it does not wait."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

import pytest

from inferlet import Context
from inferlet._calls.host import use_host
from pie_mlx.engine.engine import EngineCore
from pie_mlx.engine.scheduler.restoring import Restorer
from pie_mlx.engine.scheduler.tick_state import TickState
from pie_mlx.engine.settings import EngineSettings
from tests.engine.behaviour.test_prefix_cache import computed_tokens
from tests.engine.running import NoClient, Running, running
from tests.engine.scheduler.test_patience import occupy_device
from tests.instances import instances


async def give_up_half_way(ending: Coroutine[Any, Any, None], engine: Running) -> None:
    """Cancel what waits for the device."""
    process = engine.core.services.processes[engine.host.process_id]
    task = asyncio.create_task(ending)
    while not process.closed:  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def begin_flush(engine: Running) -> "asyncio.Task[None]":
    """A pass that waits for the device in a batch."""
    flush = asyncio.create_task(Context(engine.model).append(engine.prompt(20)).flush())
    passes = engine.part(TickState).passes
    while not any(item.in_batch for item in list(passes.values())):  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0)
    return flush


async def test_a_close_that_is_cancelled_half_way_is_finished_all_the_same() -> None:  # E7
    with running(total_pages=16) as engine:
        services = engine.core.services
        device_is_free = occupy_device(engine)
        try:
            flush = await begin_flush(engine)
            await give_up_half_way(engine.core.close_process(engine.host.process_id), engine)
        finally:
            device_is_free.set()
        await engine.core.close_process(engine.host.process_id)
        assert (dict(services.processes), services.store.usage().used) == ({}, 0)
        await asyncio.gather(flush, return_exceptions=True)


async def test_a_stop_that_is_cancelled_half_way_is_finished_all_the_same() -> None:
    before = set(threading.enumerate())
    core = EngineCore(EngineSettings(total_pages=16))
    with instances(TickState) as parts:
        await core.start()
    engine = Running(core, [], core.open_process(username="tester", program="test", session=NoClient()), parts)
    with use_host(engine.host):
        device_is_free = occupy_device(engine)
        try:
            flush = await begin_flush(engine)
            await give_up_half_way(core.stop(), engine)
        finally:
            device_is_free.set()
        await core.stop()
    left = {thread.name for thread in set(threading.enumerate()) - before}
    assert {name for name in left if name.startswith("pie-")} == set()
    await asyncio.gather(flush, return_exceptions=True)


async def begin_prompt(engine: Running, tokens: list[int]) -> "asyncio.Task[None]":
    """A pass of which a part is computed."""
    flush = asyncio.create_task(Context(engine.model).append(tokens).flush())
    passes = engine.part(TickState).passes
    while not any(item.cursor for item in list(passes.values())):  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0)
    return flush


async def test_the_prompt_of_a_process_that_is_closed_is_not_computed_to_its_end() -> None:  # E7
    with running(prefill_chunk_tokens=16) as engine, engine.process() as host:
        flush = await begin_prompt(engine, engine.prompt(3000))
        await engine.core.close_process(host.process_id)
        assert computed_tokens(engine) < 3000
        assert engine.used_pages() == 0
        await asyncio.gather(flush, return_exceptions=True)


async def test_who_waits_for_pages_of_a_process_that_is_closed_goes_on_after_what_it_computed() -> None:  # K5
    with running(prefill_chunk_tokens=16) as engine:
        prompt, before = engine.prompt(2000), computed_tokens(engine)
        with engine.process() as host:
            flush = await begin_prompt(engine, prompt)
            with use_host(engine.host):
                other = Context(engine.model)
                waiting = asyncio.create_task(other.append(prompt).flush())
            while len(engine.core.services.processes[engine.host.process_id].calls) == 0:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0)
            await engine.core.close_process(host.process_id)
        with use_host(engine.host):
            await waiting
        assert (other.seq_len, computed_tokens(engine) - before) == (2000, 2000)
        await asyncio.gather(flush, return_exceptions=True)


async def test_a_process_that_is_closed_gives_back_a_half_computed_prompt_that_was_suspended() -> None:  # E7
    with running(prefill_chunk_tokens=16) as engine, engine.process() as host:
        flush = await begin_prompt(engine, engine.prompt(2000))
        services = engine.core.services

        async def suspended() -> bool:
            (context,) = services.processes[host.process_id].contexts.values()
            if any(item.in_batch for item in engine.part(TickState).passes.values()):
                return False
            engine.part(Restorer).suspend(context)
            return True

        while not await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(suspended(), engine.core.loop)):
            pass
        await engine.core.close_process(host.process_id)
        assert computed_tokens(engine) < 2000
        assert engine.used_pages() == 0
        await asyncio.gather(flush, return_exceptions=True)
