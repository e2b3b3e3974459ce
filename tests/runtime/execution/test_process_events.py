import asyncio
import threading

from pie_mlx.events import ProcessFile, ProcessMessage, ProcessOutput
from pie_mlx.runtime.execution.process_events import Outlet


def outlet_and_events():
    events = []
    outlet = Outlet(asyncio.get_running_loop(), lambda event, data: events.append(event))
    outlet.process = "p"
    return outlet, events


async def test_lines_are_handed_over_whole():
    outlet, events = outlet_and_events()
    for text in ("one", " ", "line\ntwo\nth"):
        outlet.write("stdout", text)
    await asyncio.sleep(0)
    assert events == [ProcessOutput("p", "stdout", "one line\ntwo\n")]


async def test_an_unfinished_line_comes_before_what_follows_it():
    outlet, events = outlet_and_events()
    outlet.write("stdout", "half")
    outlet.message("hello", "text")
    await asyncio.sleep(0)
    assert events == [ProcessOutput("p", "stdout", "half"), ProcessMessage("p", "hello")]


async def test_an_unfinished_line_does_not_wait_for_ever():
    handed_over = asyncio.get_running_loop().create_future()
    outlet = Outlet(asyncio.get_running_loop(), lambda event, data: handed_over.set_result(event))
    outlet.write("stderr", "prompt> ")
    assert await handed_over == ProcessOutput("", "stderr", "prompt> ")


async def test_both_streams_keep_their_order():
    outlet, events = outlet_and_events()
    outlet.write("stdout", "a")
    outlet.write("stderr", "b\n")
    await asyncio.sleep(0)
    assert [event.text for event in events] == ["a", "b\n"]


async def test_nothing_follows_the_close():
    outlet, events = outlet_and_events()
    outlet.write("stdout", "a")
    await asyncio.sleep(0)
    outlet.close()
    outlet.write("stdout", "late\n")
    outlet.message("late", "text")
    await asyncio.sleep(0)
    assert events == [ProcessOutput("p", "stdout", "a")]


async def test_files_bring_their_bytes():
    received = []
    outlet = Outlet(asyncio.get_running_loop(), lambda event, data: received.append((event, data)))
    outlet.process = "p"
    thread = threading.Thread(target=outlet.file, args=(b"abc", "a.txt"))
    thread.start()
    thread.join()
    await asyncio.sleep(0)
    assert received == [(ProcessFile("p", "a.txt", 3), b"abc")]


async def test_text_no_wire_can_carry_is_replaced():
    outlet, events = outlet_and_events()
    outlet.message("a\udc00", "text")
    await asyncio.sleep(0)
    assert events == [ProcessMessage("p", "a\ufffd")]


async def test_an_observer_that_raises_hears_no_more():
    heard, failures = [], []

    def observe(event, data):
        heard.append(event)
        raise ValueError("full")

    outlet = Outlet(asyncio.get_running_loop(), observe)
    outlet.on_failure = failures.append
    outlet.message("a", "text")
    outlet.message("b", "text")
    await asyncio.sleep(0)
    assert len(heard) == 1
    assert [str(error) for error in failures] == ["full"]
