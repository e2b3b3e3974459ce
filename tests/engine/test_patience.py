"""A forward call waits for the device only so long."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from pie_mlx.engine import ticker
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


class Looks:
    """In place of timers: what they attempt, in the order they were made, for the test to call."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.attempts: list[Callable[[], bool]] = []
        self.two = threading.Event()
        monkeypatch.setattr(ticker, "Timer", self._timer)

    def _timer(self, _seconds: float, attempt: Callable[[], bool]) -> "Looks":
        self.attempts.append(attempt)
        if len(self.attempts) == 2:
            self.two.set()
        return self

    def cancel(self) -> None:
        """Nothing runs."""


async def test_time_out_of_the_pool_is_no_waiting_for_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = Looks(monkeypatch)
    with running(dummy=True, max_batch_contexts=1) as engine:
        services = engine.core.services
        on_device, waiting = (Context(engine.model).append(engine.prompt(20, seed)) for seed in range(2))

        async def looks_at_one_that_was_gone() -> list[bool]:
            state, restorer = services.ticker._state, services.ticker._restorer
            (context,) = (item.context for item in state.passes.values() if not item.in_batch)
            restorer.suspend(context)
            answers = [looks.attempts[1]()]
            restorer.begin(context)
            answers.append(looks.attempts[1]())
            restorer.suspend(context)
            restorer.begin(context)
            return [*answers, looks.attempts[1](), looks.attempts[1]()]

        device_is_free = occupy_device(engine)
        try:
            in_batch, late = (asyncio.create_task(engine.greedy(context, 1)) for context in (on_device, waiting))
            assert await asyncio.to_thread(looks.two.wait, 10)
            looking = asyncio.run_coroutine_threadsafe(looks_at_one_that_was_gone(), engine.core.loop)
            assert await asyncio.wrap_future(looking) == [False, False, False, True]
            with pytest.raises(ForwardTimeoutError):
                await late
        finally:
            device_is_free.set()
        assert len(await in_batch) == 1
