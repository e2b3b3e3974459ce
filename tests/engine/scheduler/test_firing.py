"""For whom of the last batches the next one waits."""

import asyncio

import pytest

from inferlet import Context, Sampler
from pie_mlx.engine.policies.planner import FiringState
from pie_mlx.engine.scheduler import tick_planner
from pie_mlx.engine.scheduler.scheduler import Scheduler
from pie_mlx.engine.scheduler.tick_state import TickState
from pie_mlx.events import TickCompleted
from tests.engine.running import Running


def is_awaited(engine: Running, context: Context) -> bool:
    return engine.part(Scheduler).planner.may_return(context.id)


async def test_a_context_that_was_forked_is_not_awaited(engine: Running) -> None:  # Q9
    with Context(engine.model) as root:
        root.append(engine.prompt(9))
        await root.flush()
        assert is_awaited(engine, root)
        with root.fork():
            assert not is_awaited(engine, root)
            root.append([45])
            await root.flush()
            assert is_awaited(engine, root)


@pytest.mark.parametrize("end", ["token", "length"])
async def test_a_text_that_has_ended_is_not_awaited(engine: Running, end: str) -> None:  # Q9
    with Context(engine.model) as root:
        root.append(engine.prompt(9))
        with root.fork() as context:
            options = {"max_tokens": 9, "auto_flush": False}
            drawn = await context.generate(Sampler.argmax(), stop=[], **options).collect_tokens()
        stop = drawn[4:5] if end == "token" else []
        generator = root.generate(Sampler.argmax(), stop=stop, **options)
        await (await anext(generator)).execute()
        assert is_awaited(engine, root)
        await generator.collect_tokens()
        assert not is_awaited(engine, root)


async def test_forks_that_begin_together_share_their_first_batch(  # Q9
    engine: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Context(engine.model) as root:
        await root.append(engine.prompt(9)).flush()
        monkeypatch.setattr(FiringState, "last_batch_seconds", 1.0)
        monkeypatch.setattr(tick_planner, "FORKS_SECONDS", 0.5)
        before = len(engine.events)
        await asyncio.gather(*(first_pass(root, token) for token in (45, 46, 47)))
    assert [event.contexts for event in engine.events[before:] if isinstance(event, TickCompleted)] == [3]


async def first_pass(root: Context, token: int) -> None:
    with root.fork() as context:
        await context.append([token]).flush()


async def test_a_context_that_can_run_does_not_wait_for_forks(
    engine: Running, monkeypatch: pytest.MonkeyPatch
) -> None:  # Q9
    monkeypatch.setattr(FiringState, "last_batch_seconds", 3600.0)
    planner = engine.part(Scheduler).planner
    with Context(engine.model) as root:
        await root.append(engine.prompt(9)).flush()
        with root.fork() as fork:
            now = engine.part(TickState).forked_seconds
            both, alone = [root.id, fork.id], [fork.id]
            assert planner.seconds_for_forks(both, now) == 0.0
            assert planner.seconds_for_forks(alone, now) == tick_planner.FORKS_SECONDS
            await fork.append([45]).flush()
            assert planner.seconds_for_forks(alone, now) == 0.0
