"""Talking to the client, blocking."""

from pie_mlx.sdk import session
from pie_mlx.sdk.session import send, send_file
from pie_mlx.sdk.sync._blocking import wait

__all__ = ["receive", "receive_file", "send", "send_file"]


def receive() -> str:
    """Wait for the next message or signal of the client. Raises SessionClosedError when there is no client."""
    return wait(session.receive())


def receive_file() -> bytes:
    """Wait for the next file of the client. Raises SessionClosedError when there is no client."""
    return wait(session.receive_file())
