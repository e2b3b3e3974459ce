"""How connections are accepted, and what happens when no file can be opened any more."""

import asyncio
import errno
import socket

import pytest

from pie_mlx.runtime.network import acceptor
from pie_mlx.runtime.network.acceptor import Acceptor

pytestmark = pytest.mark.timeout(20)


class Exhausted:
    """A listening socket that fails so many times."""

    def __init__(self, failures):
        self.real = socket.create_server(("127.0.0.1", 0))
        self.failures, self.asked = failures, 0

    def accept(self):
        self.asked += 1
        if self.asked <= self.failures:
            raise OSError(errno.EMFILE, "Too many open files")
        return self.real.accept()

    def __getattr__(self, name):
        return getattr(self.real, name)


async def test_without_descriptors_it_rests_and_goes_on_later(monkeypatch):
    monkeypatch.setattr(acceptor, "RETRY_SECONDS", 0.01)
    listener, found = Exhausted(2), asyncio.Queue()
    accepting = Acceptor(listener, found.put_nowait)
    accepting.start()
    with socket.create_connection(listener.getsockname()):
        (await found.get()).close()
        assert listener.asked <= 4  # twice in vain, once with success, once to find that there are no more
    accepting.close()


async def test_a_pause_outlasts_a_rest(monkeypatch):
    monkeypatch.setattr(acceptor, "RETRY_SECONDS", 0.0)
    listener = Exhausted(1)
    accepting = Acceptor(listener, socket.socket.close)
    accepting.start()
    with socket.create_connection(listener.getsockname()):
        while not listener.asked:
            await asyncio.to_thread(int)
        accepting.pause()
        for _ in range(5):
            await asyncio.to_thread(int)
        assert listener.asked == 1
    accepting.close()


async def test_closing_twice_is_closing():
    accepting = Acceptor(socket.create_server(("127.0.0.1", 0)), socket.socket.close)
    accepting.start()
    accepting.close()
    accepting.close()
    accepting.start()
