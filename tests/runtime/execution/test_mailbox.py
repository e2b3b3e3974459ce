import asyncio
import threading

import pytest

from pie_mlx.errors import SessionClosedError
from pie_mlx.runtime.execution.local_session import Mailbox


async def get(box):
    while True:
        await box.wait()
        if (item := box.pop()) is not None:
            return item


async def test_items_come_in_order():
    box = Mailbox()
    for item in (1, 2, 3):
        box.put(item)
    assert [await get(box) for _ in range(3)] == [1, 2, 3]


def test_there_is_nothing_to_take_from_an_empty_one():
    assert Mailbox().pop() is None


async def test_a_reader_waits_for_an_item_of_another_thread():
    box = Mailbox()
    reader = asyncio.create_task(get(box))
    await asyncio.sleep(0)
    thread = threading.Thread(target=box.put, args=("late",))
    thread.start()
    assert await reader == "late"
    thread.join()


async def test_readers_are_served_in_order():
    box = Mailbox()
    readers = [asyncio.create_task(get(box)) for _ in range(3)]
    await asyncio.sleep(0)
    for item in "abc":
        box.put(item)
    assert await asyncio.gather(*readers) == ["a", "b", "c"]


@pytest.mark.parametrize("turns", range(4))
async def test_a_reader_cancelled_at_any_moment_loses_no_item(turns):  # E5
    box = Mailbox()
    first, second = asyncio.create_task(box.wait()), asyncio.create_task(get(box))
    await asyncio.sleep(0)
    box.put("only")
    for _ in range(turns):
        await asyncio.sleep(0)
    first.cancel()
    assert await second == "only"


async def test_nobody_waits_once_cancelled():
    box = Mailbox()
    reader = asyncio.create_task(box.wait())
    await asyncio.sleep(0)
    assert box.has_readers()
    reader.cancel()
    await asyncio.gather(reader, return_exceptions=True)
    assert not box.has_readers()


async def test_closing_gives_out_what_is_there_then_the_reason():
    box = Mailbox()
    box.put("last")
    box.close(SessionClosedError("gone"))
    assert await get(box) == "last"
    with pytest.raises(SessionClosedError):
        await box.wait()


async def test_closing_wakes_everybody_who_waits():
    box = Mailbox()
    readers = [asyncio.create_task(box.wait()) for _ in range(2)]
    await asyncio.sleep(0)
    box.close(SessionClosedError("gone"))
    results = await asyncio.gather(*readers, return_exceptions=True)
    assert [type(result) for result in results] == [SessionClosedError] * 2


async def test_the_reason_does_not_grow_with_every_reader_that_comes_too_late():
    box = Mailbox()
    box.close(SessionClosedError("gone"))
    depths: list[int] = []
    for _ in range(3):
        with pytest.raises(SessionClosedError) as raised:
            await box.wait()
        depths.append(len(raised.traceback))
    assert depths == [depths[0]] * 3
