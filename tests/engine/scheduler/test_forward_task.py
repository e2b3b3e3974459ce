"""Who waits for a pass and gives up: heard until the pass is in a batch, too late from then on."""

import asyncio
from dataclasses import dataclass, field

import pytest

from pie_mlx.engine.kv import WorkingToken
from pie_mlx.engine.scheduler.forward_task import Completion, ForwardTask
from pie_mlx.engine.scheduler.live_context import LiveContext


@dataclass
class Waiting:
    """A pass of two tokens, and a task that waits for it."""

    passes: dict[int, ForwardTask] = field(default_factory=dict[int, ForwardTask])

    async def begin(self) -> "Waiting":
        self.done = Completion(self.passes)
        inputs = [WorkingToken(40, 0), WorkingToken(41, 1)]
        self.item = ForwardTask(LiveContext(7, account=1, stream=0), inputs, (), 0, self.done)
        self.done.waiting = self.passes[7] = self.item
        self.task = asyncio.create_task(self._wait())
        await asyncio.sleep(0)
        return self

    async def _wait(self) -> None:
        await self.done


async def test_a_pass_given_up_is_in_no_batch_that_is_planned_before_its_task_hears() -> None:  # E5
    waiting = await Waiting().begin()
    waiting.task.cancel()
    assert waiting.passes == {}
    with pytest.raises(asyncio.CancelledError):
        await waiting.task


async def test_a_pass_given_up_leaves_a_later_one_of_its_context_alone() -> None:  # E5
    waiting = await Waiting().begin()
    later = Completion(waiting.passes)
    later.waiting = waiting.passes[7] = ForwardTask(waiting.item.context, (), (), 1, later)
    waiting.task.cancel()
    assert waiting.passes == {7: later.waiting}


async def test_who_gives_up_while_the_pass_is_in_a_batch_waits_for_its_end() -> None:  # E5
    waiting = await Waiting().begin()
    waiting.item.in_batch = True
    for _ in range(2):  # as often as it is tried
        waiting.task.cancel()
        await asyncio.sleep(0)
    assert (waiting.item.abandoned, waiting.task.done()) == (True, False)
    waiting.item.finish()
    await waiting.task


async def test_who_gives_up_when_the_pass_is_done_gets_its_end() -> None:  # E5
    waiting = await Waiting().begin()
    waiting.item.cursor = 2
    waiting.item.finish()
    waiting.task.cancel()
    await waiting.task


async def test_who_gives_up_a_pass_and_its_context_is_heard_between_two_batches() -> None:  # E5, E7
    waiting = await Waiting().begin()
    waiting.item.cursor = 1
    waiting.item.context.released = True
    waiting.task.cancel()
    assert waiting.passes == {}
    with pytest.raises(asyncio.CancelledError):
        await waiting.task
