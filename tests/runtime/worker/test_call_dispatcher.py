"""What a worker may ask for at once."""

import asyncio
from concurrent.futures import Executor

import pytest

from pie_mlx import calls
from pie_mlx.engine.hosting.engine_time import EngineTime
from pie_mlx.errors import ProtocolError
from pie_mlx.runtime.worker.call_dispatcher import (
    CALLS_LIMIT,
    CALLS_LIMIT_BYTES,
    POSTED_LIMIT,
    CallDispatcher,
    CallMemory,
)
from pie_mlx.runtime.worker.frames import messages
from pie_mlx.runtime.worker.frames.messages import NO_ANSWER
from pie_mlx.runtime.worker.frames.reader import EngineFrames


class Slow:
    """A host that answers when the test lets it."""

    def __init__(self):
        self.go_on = asyncio.Event()
        self.reply = None
        self.time = EngineTime(Executor(), ())

    async def answer(self, message):
        await self.go_on.wait()
        return self.reply


class Desk:
    """A desk, what it sent, and how many calls are over."""

    def __init__(self):
        self.host, self.sent, self.over = Slow(), [], 0
        self.desk = CallDispatcher(self.host, self.sent.append, self._count, CallMemory().of("ada"))

    def _count(self):
        self.over += 1

    async def until(self, is_so):
        async with asyncio.timeout(10):
            while not is_so():  # noqa: ASYNC110 - calls end without saying so
                await asyncio.sleep(0)


def begun(desk, numbers, size_bytes=100):
    for number in numbers:
        desk.desk.begin(number, calls.DescribeRuntime(), size_bytes)


def refusals(desk):
    reader = EngineFrames()
    reader.feed(b"".join(desk.sent))
    return [(frame.number, frame.error.kind) for frame in iter(reader.next_frame, None)]


async def test_a_posted_call_gets_no_answer_but_is_over_in_the_end():
    desk = Desk()
    desk.desk.begin(NO_ANSWER, calls.ReleaseMatcher(1), 100)
    desk.host.go_on.set()
    await desk.until(lambda: desk.over)
    assert (desk.sent, desk.over) == ([], 1)


async def test_a_reply_that_fits_no_frame_is_refused(monkeypatch):
    desk = Desk()
    desk.host.reply = "x" * 1000
    desk.host.go_on.set()
    monkeypatch.setattr(messages, "FRAME_LIMIT_BYTES", 500)
    begun(desk, [1])
    await desk.until(lambda: desk.sent)
    assert refusals(desk) == [(1, "ProtocolError")]


async def test_posted_calls_wait_for_one_another():
    desk = Desk()
    begun(desk, [NO_ANSWER] * (POSTED_LIMIT - 1))
    assert not desk.desk.is_full
    begun(desk, [NO_ANSWER])
    assert desk.desk.is_full
    desk.desk.close()
    await desk.until(lambda: desk.over == POSTED_LIMIT)
    assert not desk.desk.is_full


async def test_too_many_calls_are_refused_until_some_are_over():
    desk = Desk()
    begun(desk, range(1, CALLS_LIMIT + 2))
    assert refusals(desk) == [(CALLS_LIMIT + 1, "ProcessError")]
    assert not desk.desk.is_full  # what would end their waits is read
    desk.desk.cancel_call(1)
    begun(desk, [CALLS_LIMIT + 2])
    assert len(desk.sent) == 1
    desk.desk.close()


async def test_too_large_calls_are_refused_except_a_single_one():
    desk = Desk()
    begun(desk, [1], CALLS_LIMIT_BYTES + 1)
    begun(desk, [2], 1)
    assert refusals(desk) == [(2, "ProcessError")]
    desk.desk.cancel_call(1)
    begun(desk, [3], 1)
    assert len(desk.sent) == 1
    desk.desk.close()


async def test_a_worker_takes_no_number_of_a_posted_call():
    with pytest.raises(ProtocolError):
        Desk().desk.begin(-1, calls.DescribeRuntime(), 100)
