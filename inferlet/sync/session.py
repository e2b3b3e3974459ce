"""Talking to the client, blocking."""

from inferlet import session
from inferlet.session import send, send_file
from inferlet.sync._blocking import wait

__all__ = ["receive", "receive_file", "send", "send_file"]


def receive() -> str:
    """Wait for the next message or signal of the client. Raises SessionClosedError when there is no client."""
    return wait(session.receive())


def receive_file() -> bytes:
    """Wait for the next file of the client. Raises SessionClosedError when there is no client."""
    return wait(session.receive_file())
