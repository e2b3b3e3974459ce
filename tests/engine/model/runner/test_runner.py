"""The thread that owns the model."""

import asyncio
import threading
from itertools import pairwise
from types import SimpleNamespace
from typing import cast

import pytest

from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.parts import Parts, Pause, in_one
from pie_mlx.engine.model.runner.batch import Batch, BatchEntry
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.errors import BatchFailedError


async def test_work_that_was_given_up_is_waited_for_no_more() -> None:
    runner, may_end = Runner(), threading.Event()
    held, given_up = runner.call(may_end.wait), runner.call(int)
    given_up.cancel()
    may_end.set()
    await held
    idle = await runner.call(runner.is_idle)
    await asyncio.gather(given_up, return_exceptions=True)
    runner.close()
    assert idle


async def test_a_failed_batch_leaves_nothing_to_be_written_later() -> None:  # E4
    recovered: list[bool] = []

    def forward(step: object) -> None:
        raise RuntimeError("no memory")

    runner = Runner()
    model = SimpleNamespace(
        forward=forward,
        attempt=lambda work, before_again: work(),
        recover=lambda: recovered.append(True),
        rest=int,
        trimmed_page_size=None,
        began_early=False,
        recurrent=False,
    )
    await runner.load(in_one(lambda: cast("LoadedModel", model)))
    with pytest.raises(BatchFailedError, match="no memory"):
        await runner.run(Batch((BatchEntry(1, [5], [0], [0], [0], 1),)))
    runner.close()
    assert recovered == [True]


async def test_between_two_parts_of_a_load_others_compute() -> None:
    runner, order = Runner(), list[str]()

    def loading() -> Parts[str]:
        for _ in range(8):
            order.append("part")
            yield Pause()
        return "loaded"

    async def compute() -> None:
        while not load.done():
            await runner.call(lambda: order.append("step"))

    load = asyncio.create_task(runner.in_parts(loading()))
    await asyncio.gather(load, compute())
    runner.close()
    assert load.result() == "loaded"
    assert ("part", "part") not in pairwise(order)


async def test_a_part_that_needs_no_device_leaves_it_to_others() -> None:
    runner, threads = Runner(), list[str]()

    def loading() -> Parts[None]:
        for beside in (True, False):
            yield Pause(beside=beside)
            threads.append(threading.current_thread().name)

    await runner.in_parts(loading())
    runner.close()
    assert [name.startswith("pie-mlx") for name in threads] == [False, True]
