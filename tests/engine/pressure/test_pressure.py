"""An engine whose system runs short of memory: less is held, nobody is lost, everything comes back."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import mlx.core as mx
import pytest

from inferlet import Context
from pie_mlx.engine.model.memory import Transients
from pie_mlx.engine.pressure import MemoryReading
from pie_mlx.engine.pressure.gauge import CALM_READINGS
from pie_mlx.engine.pressure.keeper import STEP_READINGS
from pie_mlx.engine.scheduler import tick_view
from pie_mlx.events import ContextRestored, ContextSuspended, MemoryChanged, PagesSpilled, TickCompleted, WaitChanged
from tests.engine.behaviour.test_market import events_of, hold
from tests.engine.paging.spill.test_spill import FREE
from tests.engine.running import Running, running

MIB = 1 << 20
NORMAL, WARNING, CRITICAL = (MemoryReading(1000 * MIB, available * MIB) for available in (500, 50, 10))
CALM = [NORMAL] * CALM_READINGS
LARGE_ROWS = Transients(row_bytes=MIB, layers=1, vocabulary_size=0)
"""Of a model whose rows take a MiB each: 25 MiB, half of what is available at a warning, hold no piece of 32."""


async def on_loop(engine: Running, condition: Callable[[], bool]) -> None:
    """Until `condition` holds on the engine's loop."""

    async def until() -> None:
        async with asyncio.timeout(60):
            while not condition():  # noqa: ASYNC110 - the tick loop tells nobody what it has done
                await asyncio.sleep(0)

    await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(until(), engine.core.loop))


async def observe(engine: Running, *readings: MemoryReading) -> None:
    """The watch sees `readings`, one after the other."""
    keeper = engine.keeper

    async def told() -> None:
        for reading in readings:
            await keeper.observe(reading)

    await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(told(), engine.core.loop))


def is_resident(engine: Running, context: Context) -> bool:
    return engine.store.contexts[context.id].resident


async def greedy_after(engine: Running, tokens: int, seed: int, new: int) -> list[int]:
    with Context(engine.model) as context:
        context.append(engine.prompt(tokens, seed))
        return await engine.greedy(context, new)


async def test_critical_pressure_suspends_the_cheapest_context_to_disk_and_brings_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pie_mlx.engine.paging.spill.spill.measure_costs", lambda disk: FREE)
    with running(total_pages=24, spill_directory=str(tmp_path)) as engine:
        expected = [await greedy_after(engine, 161, seed, 6) for seed in (1, 2)]
        poor, rich = await hold(engine, 160, 1, bid=1.0), await hold(engine, 160, 2, bid=5.0)
        store = engine.store
        await observe(engine, CRITICAL)
        await on_loop(engine, lambda: store.withheld.count == 6 and bool(events_of(engine, PagesSpilled)))
        assert (is_resident(engine, poor), is_resident(engine, rich)) == (False, True)
        (suspended,) = events_of(engine, ContextSuspended)
        assert (suspended.context, suspended.reason) == (poor.id, "memory")
        assert suspended.text == "suspended: the system is short of memory"

        rich.append(engine.prompt(161, 2)[160:])
        assert await engine.greedy(rich, 6) == expected[1]

        poor.append(engine.prompt(161, 1)[160:])
        waiting = asyncio.create_task(engine.greedy(poor, 6))
        await on_loop(engine, lambda: bool(events_of(engine, WaitChanged)))
        assert not waiting.done()
        await observe(engine, *CALM)
        assert await waiting == expected[0]
        assert events_of(engine, ContextRestored)[-1].read_pages > 0
        assert [event.level for event in events_of(engine, MemoryChanged)] == ["critical", "normal"]
        assert store.withheld.count == 0


async def test_free_and_cached_pages_go_before_any_context() -> None:
    with running(total_pages=24) as engine:
        context = await hold(engine, 160, 1, bid=0.0)
        await greedy_after(engine, 60, 2, 4)
        await observe(engine, CRITICAL, *[CRITICAL] * STEP_READINGS)
        await on_loop(engine, lambda: engine.store.withheld.count == 12)
        assert is_resident(engine, context)
        assert not events_of(engine, ContextSuspended)


async def test_a_warning_gives_back_cached_pages_and_suspends_nobody() -> None:
    with running(total_pages=24) as engine:
        context = await hold(engine, 160, 1, bid=0.0)
        expected = await greedy_after(engine, 60, 2, 4)
        assert engine.store.usage().cached > 0
        await observe(engine, WARNING)
        usage = engine.store.usage()
        assert (usage.cached, usage.withheld) == (0, 0)
        assert is_resident(engine, context)
        assert await greedy_after(engine, 60, 2, 4) == expected


async def test_the_buffers_of_mlx_are_given_back_on_its_own_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []
    with running() as engine:
        monkeypatch.setattr(mx, "clear_cache", lambda: found.append(threading.current_thread().name))
        await observe(engine, WARNING)
    assert [name.startswith("pie-mlx") for name in found] == [True]


async def test_prompts_go_in_pieces_whose_peak_fits() -> None:
    with running() as engine:
        expected = await greedy_after(engine, 200, 3, 2)
        engine.core.services.runner.model.transients = LARGE_ROWS
        await observe(engine, WARNING, MemoryReading(1000 * MIB, 79 * MIB))
        before = len(events_of(engine, TickCompleted))
        assert await greedy_after(engine, 200, 3, 2) == expected
        tokens = [event.tokens for event in events_of(engine, TickCompleted)[before:]]
        assert max(tokens) == 32


async def test_a_prompt_whose_peak_does_not_fit_waits_and_those_that_decode_go_on() -> None:
    with running() as engine:
        expected = await greedy_after(engine, 100, 3, 2)
        decoding = await hold(engine, 20, 4, bid=1.0)
        engine.core.services.runner.model.transients = LARGE_ROWS
        await observe(engine, WARNING)
        held = asyncio.create_task(greedy_after(engine, 100, 3, 2))
        await on_loop(engine, lambda: bool(events_of(engine, WaitChanged)))
        assert events_of(engine, WaitChanged)[0].reason == "memory"
        decoding.append([50])
        assert len(await engine.greedy(decoding, 8)) == 8
        assert not held.done()
        await observe(engine, *CALM)
        assert await held == expected


async def test_a_prompt_does_not_wait_for_ever_where_nothing_else_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tick_view, "HOLD_SECONDS", 0.0)
    with running() as engine:
        expected = await greedy_after(engine, 100, 3, 2)
        engine.core.services.runner.model.transients = LARGE_ROWS
        await observe(engine, WARNING)
        assert await greedy_after(engine, 100, 3, 2) == expected


async def test_a_context_that_needs_withheld_pages_gets_them_rather_than_an_error() -> None:
    with running(total_pages=12) as engine:
        expected = await greedy_after(engine, 120, 5, 50)
        context = await hold(engine, 119, 5, bid=1.0)
        await observe(engine, *[CRITICAL] * (2 * STEP_READINGS + 1))
        await on_loop(engine, lambda: engine.store.pool.available() == 0)
        context.append(engine.prompt(120, 5)[119:])
        assert await engine.greedy(context, 50) == expected
