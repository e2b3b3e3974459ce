"""The thread that owns the model."""

import asyncio
import threading

from pie_mlx.engine.model.runner import Runner


async def test_work_that_was_given_up_is_waited_for_no_more() -> None:
    runner, may_end = Runner(), threading.Event()
    held, given_up = runner.call(may_end.wait), runner.call(int)
    given_up.cancel()
    may_end.set()
    await held
    idle: bool = await runner.call(lambda: runner._is_idle)
    await asyncio.gather(given_up, return_exceptions=True)
    runner.close()
    assert idle
