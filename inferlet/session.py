"""Talking to the client that launched the inferlet."""

from typing import Any

from inferlet._calls.checks import checked_text
from inferlet._calls.host import current_host
from inferlet._calls.payload import json_text
from pie_mlx.calls import AwaitIncoming, ReceiveFile, ReceiveMessage, SendFile, SendMessage
from pie_mlx.errors import InvalidTypeError

__all__ = ["receive", "receive_file", "send", "send_file"]


def send(message: Any) -> None:
    """Send a message: a str unchanged, anything else as JSON.

    Raises InvalidTypeError for what JSON cannot hold, InvalidArgumentError for text that is not Unicode.
    """
    if isinstance(message, str):
        current_host().call(SendMessage(checked_text(message, "session.send")))
    else:
        current_host().call(SendMessage(json_text("session.send", message), "json"))


def send_file(data: bytes | bytearray | memoryview, name: str = "") -> None:
    """Send a file, optionally with a name for it. Raises InvalidTypeError for anything but bytes."""
    if not isinstance(data, bytes | bytearray | memoryview):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidTypeError(f"send_file: got {type(data).__name__}", hint="pass bytes; text.encode() gives them")
    current_host().call(SendFile(bytes(data), checked_text(name, "file name")))


async def receive() -> str:
    """The next message or signal of the client, in order. Cancelling loses none.

    Raises SessionClosedError when there is no client.
    """
    host = current_host()
    text = None
    while text is None:
        await host.submit(AwaitIncoming("message"))
        text = host.call(ReceiveMessage())
    return text


async def receive_file() -> bytes:
    """The next file of the client, in order. Cancelling loses none.

    Raises SessionClosedError when there is no client.
    """
    host = current_host()
    data = None
    while data is None:
        await host.submit(AwaitIncoming("file"))
        data = host.call(ReceiveFile())
    return data
