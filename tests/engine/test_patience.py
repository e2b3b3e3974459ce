"""A forward call waits for the device only so long."""

import asyncio
import threading

import pytest

from pie_mlx.errors import ForwardTimeoutError
from pie_mlx.sdk import Context
from tests.engine.running import Running, running

pytestmark = pytest.mark.timeout(30)


def occupy_device(engine: Running) -> threading.Event:
    """Keeps the device busy until the event is set."""
    is_free = threading.Event()

    async def hold() -> None:
        await engine.core.services.runner.call(is_free.wait)

    asyncio.run_coroutine_threadsafe(hold(), engine.core.loop)
    return is_free


async def test_a_pass_that_waits_too_long_fails_and_leaves_its_context_usable() -> None:
    with running(dummy=True, request_timeout_seconds=0.2, max_batch_contexts=1) as engine:
        on_device, waiting = (Context(engine.model).append(engine.prompt(20, seed)) for seed in range(2))
        device_is_free = occupy_device(engine)
        try:
            in_batch, late = (asyncio.create_task(engine.greedy(context, 1)) for context in (on_device, waiting))
            with pytest.raises(ForwardTimeoutError, match=r"has waited for 0\.2 s"):
                await late
        finally:
            device_is_free.set()
        assert len(await in_batch) == 1
        assert len(await engine.greedy(waiting, 1)) == 1
