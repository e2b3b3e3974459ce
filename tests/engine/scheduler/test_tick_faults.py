"""Faults of the engine: those that end the tick loop, and those that one pass bears alone."""

import asyncio
import struct
from collections.abc import Sequence

import pytest

from inferlet import Context
from pie_mlx.calls import AnyResult
from pie_mlx.engine.model.runner.batch import Batch
from pie_mlx.engine.scheduler.forward_task import ForwardTask
from pie_mlx.errors import BatchFailedError, EngineStoppedError
from tests.engine.running import Running, engine_alone, finished, in_context, running


class Panic(BaseException):
    """What native code raises when it gives up."""


@pytest.mark.parametrize("fault", [ValueError("no"), Panic("no")])
def test_calls_that_wait_are_told_and_so_are_later_ones(fault: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    with engine_alone() as engine:

        async def program() -> None:
            told: list[EngineStoppedError] = []
            with Context(engine.model) as context:
                for _ in range(2):
                    context.append([45])
                    with pytest.raises(EngineStoppedError) as raised:
                        await context.flush()
                    told.append(raised.value)
            assert all(f"the tick loop failed: {type(fault).__name__}: no" in str(error) for error in told)
            assert told[0] is not told[1]

        def fail(batch: Batch) -> None:
            raise fault

        monkeypatch.setattr(engine.core.services.runner, "run", fail)
        finished(in_context(engine, asyncio.wait_for(program(), 20)))


@pytest.mark.parametrize("operation", ["append", "commit_full"])
async def test_what_cannot_be_kept_fails_its_own_pass_and_no_other(  # E3
    engine: Running, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    expected = await written(engine, Context(engine.model))
    bad, good = Context(engine.model).append([45, 46]), Context(engine.model)
    await bad.flush()
    kept = getattr(engine.store.working, operation)

    def broken(context: int, *more: object) -> object:
        if context == bad.id:
            raise struct.error("argument out of range")
        return kept(context, *more)

    monkeypatch.setattr(engine.store.working, operation, broken)
    found = await asyncio.gather(
        bad.append(engine.prompt(40, 3)).flush(), written(engine, good), return_exceptions=True
    )
    assert isinstance(found[0], BatchFailedError)
    assert "could not be kept: error: argument out of range" in str(found[0])
    assert found[1] == expected
    assert (bad.seq_len, len(bad.buffer())) == (2, 40)
    assert engine.core.services.queue.failure is None
    monkeypatch.undo()
    again = Context(engine.model).append([45, 46, *engine.prompt(40, 3)])
    assert await engine.greedy(bad, 4) == await engine.greedy(again, 4)


async def written(engine: Running, context: Context) -> list[int]:
    return await engine.greedy(context.append(engine.prompt(20, 4)), 8)


async def test_a_replay_that_cannot_be_kept_fails_who_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:  # R4
    with running(total_pages=16) as engine:
        context = Context(engine.model).append(engine.prompt(20))
        await context.flush()
        context.suspend()
        with Context(engine.model) as other:
            other.inner().reserve_working_pages(16)  # nothing of it is cached any more
        record = ForwardTask.record

        def broken(item: ForwardTask, count: int, values: Sequence[AnyResult]) -> None:
            if item.replay:
                raise ValueError("no")
            record(item, count, values)

        monkeypatch.setattr(ForwardTask, "record", broken)
        with pytest.raises(BatchFailedError, match="could not be kept"):
            await asyncio.wait_for(context.append([45]).flush(), 20)
        monkeypatch.undo()
        assert len(await engine.greedy(context, 4)) == 4
        assert context.seq_len == 24
