"""A process is closed, and an engine stopped, once and wholly: also when whoever asked for it does not wait."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

import pytest

from pie_mlx.engine.engine import EngineCore
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.sdk import Context
from pie_mlx.sdk._host import use_host
from tests.engine.running import NoClient, Running, running
from tests.engine.test_patience import occupy_device


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
    passes = engine.core.services.ticker._state.passes
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
    await core.start()
    engine = Running(core, [], core.open_process(username="tester", program="test", session=NoClient()))
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
