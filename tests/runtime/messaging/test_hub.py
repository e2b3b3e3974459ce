"""Topics of users, and the channels of processes."""

import asyncio

import pytest

from pie_mlx.errors import InvalidArgumentError, MessageOverflowError
from pie_mlx.events import MessageReceived, MessageSent, WantedDetails
from pie_mlx.runtime.messaging import Channel, Hub, MessagingLimits


async def test_users_never_meet() -> None:  # T48
    hub = Hub()
    ada, bob = Channel(hub, "ada", "p"), Channel(hub, "bob", "q")
    number = bob.subscribe("t")
    await ada.push("t", "queued")
    ada.broadcast("t", "told")
    assert (bob.take("t", 0), bob.read(number)) == (None, None)
    assert ada.take("t", 0) == "queued"


async def test_a_broadcast_reaches_everybody_who_is_subscribed_now() -> None:  # T48
    hub = Hub()
    a, b = Channel(hub, "ada", "a"), Channel(hub, "ada", "b")
    a.broadcast("t", "too early")
    early, both = a.subscribe("t"), b.subscribe("t")
    a.broadcast("t", "now")
    assert [a.read(early), b.read(both), a.read(early)] == ["now", "now", None]


def test_a_channel_reads_only_its_own_subscriptions() -> None:
    hub = Hub()
    a, b = Channel(hub, "ada", "a"), Channel(hub, "ada", "b")
    number = a.subscribe("t")
    a.broadcast("t", "x")
    assert b.read(number) is None
    b.unsubscribe(number)
    assert a.read(number) == "x"


async def test_nothing_is_kept_for_a_process_that_ended() -> None:
    hub = Hub()
    channel = Channel(hub, "ada", "p")
    channel.subscribe("t")
    waiting = asyncio.create_task(channel.wait_for_message("q", 1))
    await asyncio.sleep(0)
    channel.close()
    await asyncio.gather(waiting, return_exceptions=True)
    assert hub.is_empty


async def test_a_message_that_was_kept_for_a_process_that_ended_goes_to_another() -> None:
    hub = Hub()
    ended, other = Channel(hub, "ada", "p"), Channel(hub, "ada", "q")
    waiting = asyncio.create_task(ended.wait_for_message("q", 1))
    await asyncio.sleep(0)
    await other.push("q", "work")
    await waiting
    assert other.take("q", 0) is None
    ended.close()
    assert other.take("q", 0) == "work"
    assert hub.is_empty


async def test_a_ticket_is_used_once_at_a_time() -> None:
    channel = Channel(Hub(), "ada", "p")
    waiting = asyncio.create_task(channel.wait_for_message("q", 1))
    await asyncio.sleep(0)
    with pytest.raises(InvalidArgumentError, match="ticket 1"):
        await channel.wait_for_message("q", 1)
    channel.close()
    await asyncio.gather(waiting, return_exceptions=True)


async def test_messages_nobody_pulls_are_bounded() -> None:
    hub = Hub(MessagingLimits(user_queues=2, user_bytes=10))
    channel = Channel(hub, "ada", "p")
    await channel.push("a", "12345")
    await channel.push("b", "123")
    with pytest.raises(MessageOverflowError, match="2 topics"):
        await channel.push("c", "1")
    with pytest.raises(MessageOverflowError, match="2 messages with 8 bytes"):
        await channel.push("a", "123")
    await Channel(hub, "bob", "q").push("c", "other")
    assert channel.take("b", 0) == "123"
    await channel.push("c", "1")
    hub.check_integrity()


async def test_pushes_that_wait_are_bounded_too() -> None:
    hub = Hub(MessagingLimits(queue_messages=1, user_bytes=10))
    channel = Channel(hub, "ada", "p")
    await channel.push("a", "12345")
    waiting = asyncio.create_task(channel.push("a", "1234"))
    await asyncio.sleep(0)
    with pytest.raises(MessageOverflowError, match="2 messages with 9 bytes"):
        await channel.push("a", "12")
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert channel.take("a", 0) == "12345"
    assert hub.is_empty


def test_subscriptions_of_a_process_are_bounded() -> None:
    channel = Channel(Hub(MessagingLimits(process_subscriptions=2)), "ada", "p")
    numbers = [channel.subscribe("t"), channel.subscribe("t")]
    with pytest.raises(InvalidArgumentError, match="2 subscriptions"):
        channel.subscribe("t")
    channel.unsubscribe(numbers[0])
    channel.unsubscribe(numbers[0])
    channel.subscribe("t")


async def test_what_programs_of_a_user_have_not_read_is_bounded_in_all_queues_and_subscriptions_together() -> None:
    hub = Hub(MessagingLimits(user_bytes=10))
    channels = [Channel(hub, "ada", process) for process in "pqr"]
    numbers = [channel.subscribe("news") for channel in channels]
    channels[0].broadcast("news", "1234")
    assert [channel.dropped(number) for channel, number in zip(channels, numbers, strict=True)] == [0, 0, 1]
    with pytest.raises(MessageOverflowError, match="2 messages with 8 bytes"):
        await channels[0].push("work", "123")
    hub.check_integrity()
    assert channels[0].read(numbers[0]) == "1234"
    await channels[0].push("work", "123")
    hub.check_integrity()
    channels[0].close()
    assert channels[0].take("work", 0) == "123"
    for channel in channels:
        channel.close()
    assert hub.is_empty


def test_messages_of_a_user_are_counted_however_short_they_are() -> None:
    channel = Channel(Hub(MessagingLimits(user_messages=2)), "ada", "p")
    numbers = [channel.subscribe("news") for _ in range(3)]
    channel.broadcast("news", "")
    assert [channel.dropped(number) for number in numbers] == [0, 0, 1]


def test_subscriptions_of_a_user_are_bounded() -> None:
    hub = Hub(MessagingLimits(user_subscriptions=2))
    first, second = Channel(hub, "ada", "p"), Channel(hub, "ada", "q")
    number = first.subscribe("t")
    second.subscribe("t")
    with pytest.raises(InvalidArgumentError, match="user 'ada' have 2 subscriptions"):
        second.subscribe("t")
    Channel(hub, "bob", "r").subscribe("t")
    first.unsubscribe(number)
    second.subscribe("t")
    hub.check_integrity()


async def test_a_receiver_is_told_with_the_number_of_what_the_sender_sent_while_somebody_asks():
    told = []
    details = WantedDetails()
    hub = Hub()
    ada, bob = (Channel(hub, "u", name, told.append, details, lambda: 1.0) for name in ("ada", "bob"))
    subscription = bob.subscribe("t")
    ada.broadcast("t", "nobody asks for this one")
    assert bob.read(subscription) is not None
    assert told == []
    details.want(["message_sent"])
    for _ in range(2):  # the queue is gone in between
        await ada.push("t", "x")
        assert bob.take("t", 0) == "x"
    ada.broadcast("t", "y")
    assert bob.read(subscription) == "y"
    numbers = [event.message for event in told]
    assert numbers == [1, 1, 2, 2, -2, -2]
    assert [type(event) for event in told] == [MessageSent, MessageReceived] * 3
