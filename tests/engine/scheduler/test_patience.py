"""A forward call waits for the device only so long."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from queue import Queue
from typing import Any

import pytest

from inferlet import Context
from pie_mlx.engine.model.runner.batch import Batch
from pie_mlx.engine.scheduler import queue
from pie_mlx.engine.scheduler.restoring import Restorer
from pie_mlx.engine.scheduler.tick_state import TickState
from pie_mlx.errors import ForwardTimeoutError
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
    """The looks at passes that wait, taken when the test says so; in the order of the passes."""

    def __init__(self) -> None:
        self._attempts: Queue[Callable[[], bool]] = Queue()

    def timer(self, seconds: float, attempt: Callable[[], bool]) -> "Looks":
        """Stands in for `Timer`."""
        self._attempts.put(attempt)
        return self

    def cancel(self) -> None: ...

    async def attempt(self) -> Callable[[], bool]:
        """The look at the next pass, to be taken on the engine's loop; it tells whether that one was given up."""
        return await asyncio.to_thread(self._attempts.get)

    async def next(self, engine: Running) -> Callable[[], Any]:
        """The same, to be taken here."""
        attempt = await self.attempt()

        async def look() -> bool:
            return attempt()

        return lambda: asyncio.wrap_future(asyncio.run_coroutine_threadsafe(look(), engine.core.loop))


class Batches:
    """The batches of an engine, each computed when the test says so."""

    def __init__(self, engine: Running) -> None:
        self._begun: Queue[int] = Queue()
        self._leaves = threading.Semaphore(0)
        self._runner = engine.core.services.runner
        self._run, self._runner.run = self._runner.run, self._begin  # type: ignore[method-assign]

    async def next(self) -> int:
        """How many tokens the batch that is next has."""
        return await asyncio.to_thread(self._begun.get)

    def compute(self, batches: int = 1) -> None:
        self._leaves.release(batches)

    def _begin(self, batch: Batch) -> Any:
        self._runner.call(self._leaves.acquire)
        self._begun.put(sum(len(entry.tokens) for entry in batch.entries))
        return self._run(batch)


@asynccontextmanager
async def partly_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[tuple[Callable[[], Any], "asyncio.Task[None]"]]:
    """A pass of which a first piece was computed and that waits for a more important one: the look at it, and it."""
    looks = Looks()
    monkeypatch.setattr(queue, "Timer", looks.timer)
    with running(dummy=True, policy="priority", max_batch_contexts=1, prefill_chunk_tokens=16) as engine:
        long, urgent = (Context(engine.model).append(engine.prompt(tokens)) for tokens in (100, 5))
        long.set_bid(0.0)
        urgent.set_bid(5.0)
        batches = Batches(engine)
        try:
            waiting = asyncio.create_task(long.flush())
            look = await looks.next(engine)
            assert await batches.next() == 16
            first = asyncio.create_task(urgent.flush())
            await looks.next(engine)
            batches.compute()
            assert await batches.next() == 5
            yield look, waiting
        finally:
            batches.compute(100)
        await asyncio.wait([first, waiting])  # a pass of an engine that stops is not computed to its end


async def test_a_pass_that_was_computed_in_part_since_the_last_look_is_not_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with partly_computed(monkeypatch) as (look, waiting):
        assert not await look()
    await waiting


async def test_a_pass_that_made_no_progress_since_the_last_look_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async with partly_computed(monkeypatch) as (look, waiting):
        await look()
        assert await look()
        with pytest.raises(ForwardTimeoutError):
            await waiting


async def test_time_out_of_the_pool_is_no_waiting_for_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = Looks()
    monkeypatch.setattr(queue, "Timer", looks.timer)
    with running(dummy=True, max_batch_contexts=1) as engine:
        on_device, waiting = (Context(engine.model).append(engine.prompt(20, seed)) for seed in range(2))

        async def looks_at_one_that_was_gone(look: Callable[[], bool]) -> list[bool]:
            state, restorer = engine.part(TickState), engine.part(Restorer)
            context = state.contexts[waiting.id]
            restorer.suspend(context)
            answers = [look()]
            restorer.begin(context)
            answers.append(look())
            restorer.suspend(context)
            restorer.begin(context)
            return [*answers, look(), look()]

        device_is_free = occupy_device(engine)
        try:
            in_batch, late = (asyncio.create_task(engine.greedy(context, 1)) for context in (on_device, waiting))
            _, look = [await looks.attempt() for _ in range(2)]
            looking = asyncio.run_coroutine_threadsafe(looks_at_one_that_was_gone(look), engine.core.loop)
            assert await asyncio.wrap_future(looking) == [False, False, False, True]
            with pytest.raises(ForwardTimeoutError):
                await late
        finally:
            device_is_free.set()
        assert len(await in_batch) == 1
