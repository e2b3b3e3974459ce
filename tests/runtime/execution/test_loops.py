"""Work carried between loops."""

import asyncio
import threading

import pytest

from pie_mlx.errors import EngineStoppedError
from pie_mlx.runtime.execution.loops import LoopThread, on_loop


async def thread_name() -> str:
    return threading.current_thread().name


async def farewell() -> None:
    return


async def test_work_runs_on_a_thread_that_begins_with_it() -> None:
    thread = LoopThread("pie-test")
    assert "pie-test" not in [running.name for running in threading.enumerate()]
    assert await thread.run(thread_name) == "pie-test"
    await thread.close(farewell)
    assert "pie-test" not in [running.name for running in threading.enumerate()]


async def test_closing_says_farewell_and_cancels_what_is_left() -> None:
    thread = LoopThread("pie-test")
    said: list[str] = []

    async def say() -> None:
        said.append(await thread_name())

    waiting = asyncio.create_task(thread.run(asyncio.Event().wait))
    await thread.run(thread_name)
    await thread.close(say)
    await thread.close(say)
    assert said == ["pie-test"]
    await asyncio.gather(waiting, return_exceptions=True)
    assert waiting.cancelled()
    with pytest.raises(EngineStoppedError):
        await thread.run(thread_name)


async def test_cancelling_reaches_the_other_loop() -> None:
    thread = LoopThread("pie-test")
    begun, ended = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    async def work() -> None:
        loop.call_soon_threadsafe(begun.set)
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    running = asyncio.create_task(thread.run(work))
    await begun.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await thread.run(thread_name)
    assert ended.is_set()
    await thread.close(farewell)


async def test_a_loop_that_is_closed_is_an_error() -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    with pytest.raises(EngineStoppedError):
        await on_loop(loop, farewell())
