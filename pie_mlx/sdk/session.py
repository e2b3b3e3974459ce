"""Talking to the client that launched the inferlet."""

from typing import Any

import msgspec

from pie_mlx.calls import ReceiveFile, ReceiveMessage, SendFile, SendMessage
from pie_mlx.errors import InvalidTypeError
from pie_mlx.sdk._host import current_host

__all__ = ["receive", "receive_file", "send", "send_file"]


def send(message: Any) -> None:
    """Send a message: a str as it is, anything else as JSON (I3). Raises InvalidTypeError for what JSON cannot hold."""
    if isinstance(message, str):
        current_host().call(SendMessage(message))
    else:
        current_host().call(SendMessage(_json_text(message), "json"))


def send_file(data: bytes | bytearray | memoryview, name: str = "") -> None:
    """Send a file, optionally with a name for it."""
    current_host().call(SendFile(bytes(data), name))


async def receive() -> str:
    """The next message or signal of the client, in order. Raises SessionClosedError when there is no client."""
    return await current_host().submit(ReceiveMessage())


async def receive_file() -> bytes:
    """The next file of the client, in order. Raises SessionClosedError when there is no client."""
    return await current_host().submit(ReceiveFile())


def _json_text(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise InvalidTypeError(f"session.send: {error}", hint="send a str or values JSON can hold") from error
