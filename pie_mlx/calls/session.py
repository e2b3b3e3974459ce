"""The session with the client."""

from typing import Literal

from pie_mlx.calls.base import Call


class SendMessage(Call[None], frozen=True):
    """One message to the client. `format` distinguishes text from JSON text."""

    text: str
    format: Literal["text", "json"] = "text"


class SendFile(Call[None], frozen=True):
    """A file to the client."""

    data: bytes
    name: str = ""


class AwaitIncoming(Call[None], frozen=True):
    """Wait until the client has sent something. Taking it is another call, so that a cancelled wait loses nothing.

    Raises SessionClosedError if there is no client to wait for.
    """

    what: Literal["message", "file"]


class ReceiveMessage(Call[str | None], frozen=True):
    """The next message of the client; None if there is none now."""


class ReceiveFile(Call[bytes | None], frozen=True):
    """The next file of the client; None if there is none now."""
