"""What other loops have to say comes in order, with few wake-ups."""

import asyncio
import threading

from pie_mlx.runtime.daemon import WakeupBatcher


class CountingLoop:
    """Passes on to a loop, and counts how often that is woken."""

    def __init__(self, loop):
        self._loop = loop
        self.wakes = 0

    def call_soon_threadsafe(self, act, *arguments):
        self.wakes += 1
        self._loop.call_soon_threadsafe(act, *arguments)


async def test_what_is_said_at_once_comes_in_order_with_one_wake_up():
    loop = CountingLoop(asyncio.get_running_loop())
    box, heard, done = WakeupBatcher(loop), [], asyncio.Event()

    async def speak():
        for number in range(100):
            box.post(lambda number=number: heard.append(number))
        box.post(done.set)

    thread = threading.Thread(target=lambda: asyncio.run(speak()))
    thread.start()
    await done.wait()
    await asyncio.to_thread(thread.join)
    assert heard == list(range(100))
    assert loop.wakes == 1


async def test_whoever_cannot_wait_empties_the_box():
    box, heard = WakeupBatcher(asyncio.get_running_loop()), []
    box.post(lambda: heard.append(1))
    box.empty()
    assert heard == [1]
