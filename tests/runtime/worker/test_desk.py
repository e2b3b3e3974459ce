"""What a worker may ask for at once."""

import asyncio

import pytest

from pie_mlx import calls
from pie_mlx.errors import ProtocolError
from pie_mlx.runtime.worker.desk import CALLS_LIMIT, CallDesk
from pie_mlx.runtime.worker.frames import NOBODY_WAITS


class Slow:
    """A host that answers when the test lets it."""

    def __init__(self):
        self.go_on = asyncio.Event()

    async def answer(self, message):
        await self.go_on.wait()


class Desk:
    """A desk, what it sent, and how many calls are over."""

    def __init__(self):
        self.host, self.sent, self.over = Slow(), [], 0
        self.desk = CallDesk(self.host, self.sent.append, self._count)

    def _count(self):
        self.over += 1


async def test_a_posted_call_gets_no_answer_but_is_over_in_the_end():
    desk = Desk()
    desk.desk.begin(NOBODY_WAITS, calls.ReleaseMatcher(1))
    desk.host.go_on.set()
    await asyncio.gather(*desk.desk._tasks.values())
    assert (desk.sent, desk.over) == ([], 1)


async def test_posted_calls_count_as_under_way():
    desk = Desk()
    for _ in range(CALLS_LIMIT):
        desk.desk.begin(NOBODY_WAITS, calls.ReleaseMatcher(1))
    assert desk.desk.is_full
    desk.desk.close()


async def test_a_worker_takes_no_number_of_a_posted_call():
    with pytest.raises(ProtocolError):
        Desk().desk.begin(-1, calls.DescribeRuntime())
