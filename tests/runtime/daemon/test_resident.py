"""Programs that share a loop are processes like any other."""

import asyncio
import threading

import pytest
import pytest_asyncio

from inferlet import runtime, session
from pie_mlx.errors import ProcessCancelledError
from pie_mlx.runtime.daemon import SharedLoop
from pie_mlx.runtime.engine import Engine
from pie_mlx.runtime.execution.entry import Entry
from pie_mlx.runtime.program.parameters import Parameters

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def launch():
    """Launches a function on a loop that all share."""
    shared = SharedLoop("shared")
    async with Engine(dummy=True, total_pages=16) as engine:

        def start(main, input=None, **options):
            return engine.launch(Entry("f@0.0.0", Parameters(), main, executor=shared.executor), input or {}, **options)

        yield start
    await shared.close()


async def test_programs_run_at_once_on_one_thread_each_as_itself(launch):
    async def main(input):
        await asyncio.sleep(0)
        return [threading.current_thread().name, runtime.username()]

    processes = [await launch(main, username=name) for name in ("ada", "bob")]
    assert [await process.result() for process in processes] == [["shared", "ada"], ["shared", "bob"]]


async def test_a_failure_is_its_own(launch, capsys):
    async def main(input):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await (await launch(main)).result()
    assert "ValueError: no" in capsys.readouterr().err


async def test_cancelling_ends_one_and_leaves_the_others(launch):
    begun = asyncio.Event()

    async def wait(input):
        session.send("begun")
        await asyncio.Event().wait()

    async def receive(input):
        return await session.receive()

    waiting = await launch(wait, on_message=lambda message: begun.set())
    other = await launch(receive)
    await begun.wait()
    waiting.cancel("enough")
    with pytest.raises(ProcessCancelledError, match="enough"):
        await waiting.result()
    other.send("still here")
    assert await other.result() == "still here"
