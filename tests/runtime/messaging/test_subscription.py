"""What a subscription keeps and drops."""

import asyncio

import pytest

from pie_mlx.errors import MessageOverflowError
from pie_mlx.runtime.messaging.limits import MessageUsage, MessagingLimits, size_of
from pie_mlx.runtime.messaging.subscription import Subscription


def subscription(**given: int) -> Subscription:
    limits = MessagingLimits(**given)
    return Subscription("news", limits, MessageUsage(limits))


def put(sub: Subscription, text: str) -> None:
    sub.put(text, size_of(text))


def test_messages_are_read_in_order() -> None:
    sub = subscription()
    put(sub, "a")
    put(sub, "b")
    assert [sub.pop(), sub.pop(), sub.pop()] == ["a", "b", None]


def test_the_newest_are_dropped_and_counted_and_the_next_read_says_so_once() -> None:  # I4
    sub = subscription(subscription_messages=2)
    for text in "abcd":
        put(sub, text)
    with pytest.raises(MessageOverflowError, match="2 messages were dropped because it was full") as raised:
        sub.pop()
    assert (raised.value.dropped, sub.dropped) == (2, 2)
    assert [sub.pop(), sub.pop(), sub.pop()] == ["a", "b", None]
    put(sub, "e")
    assert (sub.pop(), sub.dropped) == ("e", 2)


def test_bytes_are_bounded_too() -> None:
    sub = subscription(subscription_bytes=4)
    put(sub, "ää")
    put(sub, "b")
    assert sub.dropped == 1


def test_what_was_read_counts_no_more() -> None:  # I4
    sub = subscription(subscription_bytes=4)
    for text in ("abc", "def", "ghi"):
        put(sub, text)
        assert sub.pop() == text


async def test_waiting_ends_with_a_message() -> None:
    sub = subscription()
    waiting = asyncio.create_task(sub.wait())
    await asyncio.sleep(0)
    assert not waiting.done()
    put(sub, "a")
    assert await waiting
    assert sub.pop() == "a"


async def test_waiting_ends_when_something_was_dropped() -> None:
    sub = subscription(subscription_bytes=4)
    waiting = asyncio.create_task(sub.wait())
    await asyncio.sleep(0)
    put(sub, "too long")
    assert await waiting
    with pytest.raises(MessageOverflowError):
        sub.pop()
    again = asyncio.create_task(sub.wait())
    await asyncio.sleep(0)
    assert not again.done()
    sub.close()
    await again


async def test_waiting_ends_with_the_subscription() -> None:
    sub = subscription()
    waiting = asyncio.create_task(sub.wait())
    await asyncio.sleep(0)
    sub.close()
    assert not await waiting
    assert not await sub.wait()
