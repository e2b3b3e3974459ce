import asyncio
import itertools
import threading

from pie_mlx.events import ProcessFile, ProcessMessage, ProcessOutput
from pie_mlx.runtime.execution.process_events import JOINED_CHARACTERS, ProcessEventQueue


def outlet_and_events():
    events = []
    event_queue = ProcessEventQueue(asyncio.get_running_loop(), lambda event, data: events.append(event))
    event_queue.process = "p"
    return event_queue, events


async def test_lines_are_handed_over_whole():
    event_queue, events = outlet_and_events()
    for text in ("one", " ", "line\ntwo\nth"):
        event_queue.write("stdout", text)
    await asyncio.sleep(0)
    assert events == [ProcessOutput("p", "stdout", "one line\ntwo\n")]


async def test_an_unfinished_line_comes_before_what_follows_it():
    event_queue, events = outlet_and_events()
    event_queue.write("stdout", "half")
    event_queue.message("hello", "text")
    await asyncio.sleep(0)
    assert events == [ProcessOutput("p", "stdout", "half"), ProcessMessage("p", "hello")]


async def test_an_unfinished_line_does_not_wait_for_ever():
    handed_over = asyncio.get_running_loop().create_future()
    event_queue = ProcessEventQueue(asyncio.get_running_loop(), lambda event, data: handed_over.set_result(event))
    event_queue.write("stderr", "prompt> ")
    assert await handed_over == ProcessOutput("", "stderr", "prompt> ")


async def test_both_streams_keep_their_order():
    event_queue, events = outlet_and_events()
    event_queue.write("stdout", "a")
    event_queue.write("stderr", "b\n")
    await asyncio.sleep(0)
    assert [event.text for event in events] == ["a", "b\n"]


async def test_writes_that_wait_are_observed_as_one():
    event_queue, events = outlet_and_events()
    for number in range(1000):
        event_queue.write("stdout", f"{number}\n")
    await asyncio.sleep(0)
    assert [event.text for event in events] == ["".join(f"{number}\n" for number in range(1000))]


async def test_writes_are_not_joined_without_end():
    event_queue, events = outlet_and_events()
    for _ in range(3):
        event_queue.write("stdout", "x" * JOINED_CHARACTERS + "\n")
    event_queue.close()
    assert [len(event.text) for event in events] == [JOINED_CHARACTERS + 1] * 3


async def test_what_follows_a_failure_is_still_done():
    event_queue, done = outlet_and_events()[0], []

    def fail():
        raise OSError

    asyncio.get_running_loop().set_exception_handler(lambda loop, told: done.append(type(told["exception"])))
    event_queue.after_delivery(fail)
    event_queue.after_delivery(lambda: done.append("next"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert done == [OSError, "next"]


async def test_the_loop_has_its_turns_while_a_program_posts_thousands_of_events():
    loop, events = asyncio.get_running_loop(), []
    event_queue = ProcessEventQueue(loop, lambda event, data: events.append(event), clock=lambda: float(len(events)))
    for number in range(50):
        event_queue.message(str(number), "text")
    seen = []
    for _ in range(60):
        seen.append(len(events))
        await asyncio.sleep(0)
    assert all(after - before <= 1 for before, after in itertools.pairwise(seen))
    assert [event.text for event in events] == [str(number) for number in range(50)]


async def test_the_last_event_comes_after_all_that_was_posted_before():
    loop, events = asyncio.get_running_loop(), []
    event_queue = ProcessEventQueue(loop, lambda event, data: events.append(event), clock=lambda: float(len(events)))
    for text in ("one", "two"):
        event_queue.message(text, "text")
    event_queue.write("stdout", "three\n")
    event_queue.deliver(ProcessMessage("", "last"))
    event_queue.close()
    assert [event.text for event in events] == ["one", "two", "three\n", "last"]


async def test_nothing_follows_the_close():
    event_queue, events = outlet_and_events()
    event_queue.write("stdout", "a")
    await asyncio.sleep(0)
    event_queue.close()
    event_queue.write("stdout", "late\n")
    event_queue.message("late", "text")
    await asyncio.sleep(0)
    assert events == [ProcessOutput("p", "stdout", "a")]


async def test_files_bring_their_bytes():
    received = []
    event_queue = ProcessEventQueue(asyncio.get_running_loop(), lambda event, data: received.append((event, data)))
    event_queue.process = "p"
    thread = threading.Thread(target=event_queue.file, args=(b"abc", "a.txt"))
    thread.start()
    thread.join()
    await asyncio.sleep(0)
    assert received == [(ProcessFile("p", "a.txt", 3), b"abc")]


async def test_text_no_wire_can_carry_is_replaced():
    event_queue, events = outlet_and_events()
    event_queue.message("a\udc00", "text")
    await asyncio.sleep(0)
    assert events == [ProcessMessage("p", "a\ufffd")]


async def test_an_observer_that_raises_hears_no_more():
    heard, failures = [], []

    def observe(event, data):
        heard.append(event)
        raise ValueError("full")

    event_queue = ProcessEventQueue(asyncio.get_running_loop(), observe)
    event_queue.on_failure = failures.append
    event_queue.message("a", "text")
    event_queue.message("b", "text")
    await asyncio.sleep(0)
    assert len(heard) == 1
    assert [str(error) for error in failures] == ["full"]
