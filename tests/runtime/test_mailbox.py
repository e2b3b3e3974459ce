import asyncio
import threading

import pytest

from pie_mlx.errors import SessionClosedError
from pie_mlx.runtime.mailbox import Mailbox


async def test_items_come_in_order():
    box = Mailbox()
    for item in range(3):
        box.put(item)
    assert [await box.get() for _ in range(3)] == [0, 1, 2]


async def test_a_reader_waits_for_an_item_of_another_thread():
    box = Mailbox()
    reader = asyncio.create_task(box.get())
    await asyncio.sleep(0)
    thread = threading.Thread(target=box.put, args=("late",))
    thread.start()
    assert await reader == "late"
    thread.join()


async def test_readers_are_served_in_order():
    box = Mailbox()
    readers = [asyncio.create_task(box.get()) for _ in range(3)]
    await asyncio.sleep(0)
    for item in "abc":
        box.put(item)
    assert await asyncio.gather(*readers) == ["a", "b", "c"]


async def test_a_cancelled_reader_loses_no_item():
    box = Mailbox()
    first, second = asyncio.create_task(box.get()), asyncio.create_task(box.get())
    await asyncio.sleep(0)
    box.put("only")
    first.cancel()
    assert await second == "only"


async def test_closing_gives_out_what_is_there_then_the_reason():
    box = Mailbox()
    box.put("last")
    box.close(SessionClosedError("gone"))
    assert await box.get() == "last"
    with pytest.raises(SessionClosedError):
        await box.get()


async def test_closing_wakes_everybody_who_waits():
    box = Mailbox()
    readers = [asyncio.create_task(box.get()) for _ in range(2)]
    await asyncio.sleep(0)
    box.close(SessionClosedError("gone"))
    results = await asyncio.gather(*readers, return_exceptions=True)
    assert [type(result) for result in results] == [SessionClosedError] * 2
