"""The session with the client."""

from typing import Literal

from pie_mlx.calls.base import Call


class SendMessage(Call[None], frozen=True):
    """One message to the client. `format` tells text from JSON text."""

    text: str
    format: Literal["text", "json"] = "text"


class SendFile(Call[None], frozen=True):
    """A file to the client."""

    data: bytes
    name: str = ""


class ReceiveMessage(Call[str], frozen=True):
    """Wait for the next message of the client. Raises SessionClosedError when there is no client to wait for."""


class ReceiveFile(Call[bytes], frozen=True):
    """Wait for the next file of the client. Raises SessionClosedError when there is no client to wait for."""
