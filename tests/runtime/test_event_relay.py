"""Events come in order: those of ticks a little later, those of a process at once and after all before them."""

import asyncio

from pie_mlx.events import MarketSettled, ProcessLaunched, ProcessReturned
from pie_mlx.runtime.event_relay import EventRelay

LAUNCHED = ProcessLaunched("p", "ada", "f@0.0.0", None, "")
RETURNED = ProcessReturned("p", "1", "json")


def settled(price):
    return MarketSettled(tick=1, price=price, movements=())


async def test_events_of_other_threads_come_in_order():
    heard, done = [], asyncio.Event()

    def observe(event):
        heard.append(event.price)
        if event.price == 9:
            done.set()

    relay = EventRelay(asyncio.get_running_loop(), observe)
    await asyncio.to_thread(lambda: [relay.post(settled(price)) for price in range(10)])
    await done.wait()
    assert heard == list(range(10))


async def test_an_event_of_a_process_comes_after_what_was_posted_before_it():
    heard = []
    relay = EventRelay(asyncio.get_running_loop(), heard.append)
    relay.post(settled(1))
    relay.deliver(RETURNED)
    assert heard == [settled(1), RETURNED]


async def test_a_launch_comes_before_what_is_said_of_it():
    heard = []
    relay = EventRelay(asyncio.get_running_loop(), heard.append)
    relay.post(settled(1))
    relay.deliver(LAUNCHED)
    relay.flush()
    assert heard == [LAUNCHED, settled(1)]


async def test_nothing_is_left_behind_a_flush():
    heard, done = [], asyncio.Event()
    relay = EventRelay(asyncio.get_running_loop(), lambda event: (heard.append(event), done.set()))
    relay.post(settled(1))
    relay.flush()
    done.clear()
    relay.post(settled(2))
    await done.wait()
    assert heard == [settled(1), settled(2)]
