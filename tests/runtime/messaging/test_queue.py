"""One topic's queue."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.runtime.messaging.limits import MessageUsage, MessagingLimits
from pie_mlx.runtime.messaging.queue import Queue, Ticket

A, B, C = ("a", 1), ("b", 1), ("c", 1)


def queue(**limits: int) -> Queue:
    limits = MessagingLimits(**limits)
    return Queue(limits, MessageUsage(limits))


async def turn() -> None:
    """Let everything that can go on go on."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_messages_are_taken_in_order() -> None:  # T48
    q = queue()
    await q.push("a")
    await q.push("b")
    assert [q.pop(A), q.pop(A), q.pop(A)] == ["a", "b", None]
    assert q.is_empty


async def test_a_message_waits_for_the_first_in_line() -> None:  # I4
    q = queue()
    first, second = asyncio.create_task(q.wait(A)), asyncio.create_task(q.wait(B))
    await turn()
    await q.push("one")
    await turn()
    assert (first.done(), second.done()) == (True, False)
    assert q.pop(C) is None, "it is kept for the one who was called"
    assert q.pop(A) == "one"
    second.cancel()
    await turn()
    assert q.is_empty


async def test_a_wait_that_is_given_up_leaves_the_message_to_the_next() -> None:
    q = queue()
    first, second = asyncio.create_task(q.wait(A)), asyncio.create_task(q.wait(B))
    await turn()
    await q.push("one")
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await second
    assert q.pop(B) == "one"


async def test_who_was_called_and_leaves_hands_the_message_on() -> None:
    q = queue()
    first, second = asyncio.create_task(q.wait(A)), asyncio.create_task(q.wait(B))
    await turn()
    await q.push("one")
    await first
    q.leave(A)
    await second
    assert q.pop(A) is None
    assert q.pop(B) == "one"


async def test_a_full_queue_makes_pushes_wait_in_order() -> None:
    q = queue(queue_messages=2)
    for text in "ab":
        await q.push(text)
    third, fourth = asyncio.create_task(q.push("c")), asyncio.create_task(q.push("d"))
    await turn()
    assert not third.done()
    assert q.pop(A) == "a"
    await third
    await turn()
    assert not fourth.done()
    assert [q.pop(A) for _ in range(3)] == ["b", "c", "d"]
    await fourth


async def test_a_queue_is_full_by_bytes_too_but_takes_one_message_of_any_size() -> None:
    q = queue(queue_bytes=10)
    await q.push("x" * 50)
    second = asyncio.create_task(q.push("ä" * 3))
    await turn()
    assert not second.done()
    assert q.pop(A) == "x" * 50
    await second
    assert q.size_bytes == 6


async def test_a_push_that_would_fit_waits_behind_one_that_does_not() -> None:  # I4
    q = queue(queue_bytes=10)
    await q.push("x" * 5)
    large, small = asyncio.create_task(q.push("y" * 9)), asyncio.create_task(q.push("z"))
    await turn()
    assert not small.done()
    assert [q.pop(A) for _ in range(3)] == ["x" * 5, "y" * 9, "z"]
    await asyncio.gather(large, small)


async def test_a_push_that_is_given_up_lets_the_next_one_in() -> None:  # I4
    q = queue(queue_bytes=10)
    await q.push("x" * 5)
    large, small = asyncio.create_task(q.push("y" * 9)), asyncio.create_task(q.push("z"))
    await turn()
    large.cancel()
    await turn()
    assert small.done()
    assert [q.pop(A), q.pop(A)] == ["x" * 5, "z"]


async def test_a_push_that_is_given_up_is_not_in_the_queue() -> None:
    q = queue(queue_messages=1)
    await q.push("a")
    given_up, patient = asyncio.create_task(q.push("b")), asyncio.create_task(q.push("c"))
    await turn()
    given_up.cancel()
    await turn()
    assert q.pop(A) == "a"
    await patient
    assert [q.pop(A), q.pop(A)] == ["c", None]
    assert q.is_empty


STEP = st.tuples(
    st.sampled_from(["push", "take", "wait", "leave", "cancel wait", "cancel push", "turn"]), st.integers(0, 4)
)


@given(st.lists(STEP, max_size=60))
def test_every_message_is_taken_once_and_in_order(steps: list[tuple[str, int]]) -> None:
    asyncio.run(play(steps))


async def play(steps: list[tuple[str, int]]) -> None:
    q = queue(queue_messages=3)
    pushes: dict[str, asyncio.Task[None]] = {}
    waits: dict[Ticket, asyncio.Task[None]] = {}
    taken: list[str] = []
    for number, (step, who) in enumerate(steps):
        ticket = ("p", who)
        match step:
            case "push":
                pushes[f"{number:03}"] = asyncio.create_task(q.push(f"{number:03}"))
            case "take":
                taken += [text for text in [q.pop(ticket)] if text is not None]
            case "wait" if ticket not in waits or waits[ticket].done():
                q.leave(ticket)
                waits[ticket] = asyncio.create_task(q.wait(ticket))
            case "leave":
                q.leave(ticket)
            case "cancel wait" if waits:
                waits[sorted(waits)[who % len(waits)]].cancel()
            case "cancel push" if pushes:
                pushes[sorted(pushes)[who % len(pushes)]].cancel()
            case _:
                await turn()
        q.check_integrity()
    await drain_and_check(q, pushes, waits, taken)


async def drain_and_check(
    q: Queue, pushes: dict[str, asyncio.Task[None]], waits: dict[Ticket, asyncio.Task[None]], taken: list[str]
) -> None:
    await turn()
    for ticket in waits:
        q.leave(ticket)
    while (text := q.pop(("end", 0))) is not None:
        taken.append(text)
        await turn()
    await asyncio.gather(*pushes.values(), *waits.values(), return_exceptions=True)
    assert q.is_empty
    assert taken == sorted(taken)
    assert {text for text, push in pushes.items() if not push.cancelled()} <= set(taken)
    assert len(set(taken)) == len(taken)


@pytest.mark.parametrize("text", ["", "x", "ä€"])
async def test_bytes_are_counted_in_utf8(text: str) -> None:
    q = queue()
    await q.push(text)
    assert q.size_bytes == len(text.encode())
