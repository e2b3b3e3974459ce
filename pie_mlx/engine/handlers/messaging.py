"""Topics between the programs of a user."""

from pie_mlx import calls
from pie_mlx.engine.handlers.base import answers_alone
from pie_mlx.engine.handlers.session import MESSAGE_LIMIT_BYTES
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.errors import InvalidArgumentError

TOPIC_LIMIT = 256
"""The longest topic, in characters."""


def _check_topic(topic: str) -> None:
    if not 1 <= len(topic) <= TOPIC_LIMIT:
        raise InvalidArgumentError(f"topic: {len(topic)} characters long", hint=f"use 1 to {TOPIC_LIMIT} characters")
    if not topic.isprintable():
        raise InvalidArgumentError(f"topic {topic!r}: not printable", hint="use letters, digits and punctuation")


def _check_text(text: str) -> None:
    try:
        size_bytes = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"message: not Unicode text: {error.reason}", hint="remove surrogates") from None
    if size_bytes > MESSAGE_LIMIT_BYTES:
        raise InvalidArgumentError(
            f"message is {size_bytes} bytes, the limit is {MESSAGE_LIMIT_BYTES}", hint="send it in pieces"
        )


@answers_alone(calls.Broadcast)
async def broadcast(process: HostedProcess, call: calls.Broadcast) -> None:
    _check_topic(call.topic)
    _check_text(call.text)
    process.outside.messaging.broadcast(call.topic, call.text)


@answers_alone(calls.Subscribe)
async def subscribe(process: HostedProcess, call: calls.Subscribe) -> int:
    _check_topic(call.topic)
    return process.outside.messaging.subscribe(call.topic)


@answers_alone(calls.ReadSubscription)
async def read_subscription(process: HostedProcess, call: calls.ReadSubscription) -> str | None:
    return process.outside.messaging.read(call.subscription)


@answers_alone(calls.AwaitBroadcast)
async def await_broadcast(process: HostedProcess, call: calls.AwaitBroadcast) -> bool:
    return await process.outside.messaging.wait_for_broadcast(call.subscription)


@answers_alone(calls.CountDropped)
async def count_dropped(process: HostedProcess, call: calls.CountDropped) -> int:
    return process.outside.messaging.dropped(call.subscription)


@answers_alone(calls.Unsubscribe)
async def unsubscribe(process: HostedProcess, call: calls.Unsubscribe) -> None:
    process.outside.messaging.unsubscribe(call.subscription)


@answers_alone(calls.Push)
async def push(process: HostedProcess, call: calls.Push) -> None:
    _check_topic(call.topic)
    _check_text(call.text)
    await process.outside.messaging.push(call.topic, call.text)


@answers_alone(calls.TakeMessage)
async def take_message(process: HostedProcess, call: calls.TakeMessage) -> str | None:
    _check_topic(call.topic)
    return process.outside.messaging.take(call.topic, call.ticket)


@answers_alone(calls.AwaitMessage)
async def await_message(process: HostedProcess, call: calls.AwaitMessage) -> None:
    _check_topic(call.topic)
    await process.outside.messaging.wait_for_message(call.topic, call.ticket)


@answers_alone(calls.LeaveTopic)
async def leave_topic(process: HostedProcess, call: calls.LeaveTopic) -> None:
    process.outside.messaging.leave(call.topic, call.ticket)
