"""The engine's loop answers whoever calls, also in its end."""

import asyncio
import sys

import pytest

from pie_mlx.calls import SendMessage
from pie_mlx.engine.engine import TURN_SECONDS
from pie_mlx.engine.hosting.loop import EngineLoop
from pie_mlx.engine.hosting.loop_bridge import LoopBridge
from pie_mlx.errors import EngineStoppedError
from tests.engine.running import running


@pytest.fixture
def stopped():
    """A loop that has stopped and that the test finishes."""
    loop = EngineLoop()
    loop.call_soon(loop.stop)
    loop.run_forever()
    return loop


async def refuse(message):
    raise EngineStoppedError(message.text)


def test_a_coroutine_that_comes_after_the_stop_runs(stopped):
    answer = asyncio.run_coroutine_threadsafe(refuse(SendMessage("late")), stopped)
    stopped.finish()
    assert isinstance(answer.exception(timeout=0), EngineStoppedError)


async def test_calls_that_come_after_the_stop_are_all_answered(stopped):
    bridge = LoopBridge(stopped)
    calls = [asyncio.create_task(bridge.submit(SendMessage(name), refuse)) for name in ("first", "second")]
    await asyncio.sleep(0)
    await asyncio.to_thread(stopped.finish)
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert list(map(repr, answers)) == ["EngineStoppedError('first')", "EngineStoppedError('second')"]


def test_what_comes_after_the_end_is_refused(stopped):
    stopped.finish()
    with pytest.raises(RuntimeError, match="closed"):
        stopped.call_soon_threadsafe(print)


@pytest.mark.parametrize(("before", "after"), [(5e-3, TURN_SECONDS), (1e-4, 1e-4)])
def test_threads_leave_the_interpreter_to_the_loop_soon(before, after):
    usual = sys.getswitchinterval()
    sys.setswitchinterval(before)
    try:
        with running(dummy=True):
            assert sys.getswitchinterval() == pytest.approx(after, rel=0.02)
    finally:
        sys.setswitchinterval(usual)
