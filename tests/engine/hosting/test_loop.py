"""The engine's loop answers every call, also in its end; calls of many programs are carried to it together."""

import asyncio
import sys
import threading

import pytest

from pie_mlx.calls import SendMessage
from pie_mlx.engine.engine import TURN_SECONDS
from pie_mlx.engine.hosting.loop import EngineLoop, LoopBridge, bridge_to
from pie_mlx.errors import EngineStoppedError
from tests.engine.running import running

pytestmark = pytest.mark.timeout(20)


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


class LoopOnThread:
    """A loop on a thread of its own, which counts how often others wake it."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.woken = 0
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        self._wake, self.loop.call_soon_threadsafe = self.loop.call_soon_threadsafe, self._count

    def _count(self, callback, *arguments):
        self.woken += 1
        return self._wake(callback, *arguments)

    def close(self):
        self._wake(self.loop.stop)
        self._thread.join()
        self.loop.close()


@pytest.fixture
def there():
    made = LoopOnThread()
    yield made
    if not made.loop.is_closed():
        made.close()


async def echo(message):
    return message


async def test_a_call_is_answered_on_the_other_loop(there):
    async def where(message):
        return threading.current_thread()

    bridge = LoopBridge(there.loop)
    assert await bridge.submit(1, echo) == 1
    assert await bridge.submit(1, where) is not threading.current_thread()


async def test_an_error_crosses(there):
    async def fail(message):
        raise KeyError(message)

    with pytest.raises(KeyError):
        await LoopBridge(there.loop).submit("x", fail)


async def test_programs_that_were_answered_together_ask_again_with_one_wake_up(there):
    bridge = LoopBridge(there.loop)
    gate = asyncio.Event()

    async def together(message):
        await gate.wait()

    async def program():
        await bridge.submit(1, together)
        there.woken = 0
        await bridge.submit(2, echo)

    programs = [asyncio.create_task(program()) for _ in range(8)]
    await asyncio.sleep(0)
    await asyncio.to_thread(there.loop.call_soon_threadsafe, gate.set)
    await asyncio.gather(*programs)
    assert there.woken == 1


async def test_a_posted_call_goes_with_the_next_one_and_before_it(there):
    bridge, seen = LoopBridge(there.loop), []

    async def note(message):
        seen.append(message)

    bridge.post(1, note)
    await bridge.submit(2, note)
    assert (seen, there.woken) == ([1, 2], 1)


async def test_another_thread_cannot_go_past_a_posted_call_that_is_leaving(there, monkeypatch):  # P3
    bridge, seen, wake = LoopBridge(there.loop), [], there.loop.call_soon_threadsafe

    async def note(message):
        seen.append(message)

    def interrupted(callback):
        monkeypatch.setattr(there.loop, "call_soon_threadsafe", wake)
        bridge.hurry()
        asyncio.run_coroutine_threadsafe(note("of another thread"), there.loop).result()
        wake(callback)

    monkeypatch.setattr(there.loop, "call_soon_threadsafe", interrupted)
    bridge.post("posted", note)
    await asyncio.sleep(0)
    assert seen == ["posted", "of another thread"]


async def test_a_posted_call_leaves_by_itself(there):
    answered = threading.Event()

    async def answer(message):
        answered.set()

    LoopBridge(there.loop).post(1, answer)
    assert await asyncio.to_thread(answered.wait, 10)


async def test_what_a_posted_call_raises_is_dropped(there, caplog):
    async def fail(message):
        raise KeyError(message)

    bridge = LoopBridge(there.loop)
    bridge.post("x", fail)
    assert await bridge.submit(1, echo) == 1
    assert caplog.records == []


async def test_a_posted_call_after_the_end_is_dropped(there):
    bridge = LoopBridge(there.loop)
    there.close()
    bridge.post(1, echo)
    with pytest.raises(EngineStoppedError):
        await bridge.submit(2, echo)


async def test_there_is_one_bridge_per_pair_of_loops(there):
    assert bridge_to(there.loop) is bridge_to(there.loop)
    other = await asyncio.to_thread(lambda: asyncio.run(_bridge(there.loop)))
    assert other is not bridge_to(there.loop)


async def test_a_cancelled_call_is_cancelled_there(there):
    begun, cancelled = threading.Event(), threading.Event()

    async def long(message):
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    call = asyncio.create_task(LoopBridge(there.loop).submit(1, long))
    await asyncio.to_thread(begun.wait)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await asyncio.to_thread(cancelled.wait, 10)


async def test_a_call_that_is_given_up_there_says_that_its_process_is_over(there):
    async def give_up(message):
        asyncio.current_task().cancel()
        await asyncio.sleep(0)

    with pytest.raises(EngineStoppedError, match="process"):
        await LoopBridge(there.loop).submit(1, give_up)


async def test_a_call_after_the_end_says_that_the_engine_stopped(there):
    bridge = LoopBridge(there.loop)
    there.close()
    with pytest.raises(EngineStoppedError):
        await bridge.submit(1, echo)


async def test_calls_that_wait_for_others_are_told_of_the_end_too(there):
    bridge, begun, all_begun = LoopBridge(there.loop), [], asyncio.Event()

    async def answer_together(message):
        begun.append(message)
        if len(begun) == 4:
            all_begun.set()
        await all_begun.wait()

    await asyncio.gather(*(bridge.submit(number, answer_together) for number in range(4)))
    there.close()
    with pytest.raises(EngineStoppedError):
        await bridge.submit(1, echo)


async def _bridge(loop):
    return bridge_to(loop)
