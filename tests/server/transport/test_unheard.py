"""A connection costs a socket until it says something."""

import asyncio
import contextlib
import socket

import pytest

from pie_mlx.server.transport.connection_limit import SILENT_SECONDS, ConnectionLimit
from pie_mlx.server.transport.unheard import Unheard

pytestmark = pytest.mark.timeout(20)


@pytest.fixture
async def pair():
    """An accepted connection, and the client's end."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
async def unheard():
    made = Unheard(asyncio.Queue[socket.socket]().put_nowait)
    yield made
    made.close()


async def end_of(client):
    return await asyncio.get_running_loop().sock_recv(client, 1)


async def test_who_speaks_is_heard_and_nothing_it_said_is_lost(pair):
    ours, theirs = pair
    heard = asyncio.Queue[socket.socket]()
    unheard = Unheard(heard.put_nowait)
    unheard.add(ours, 0.0)
    theirs.sendall(b"GET")
    assert await heard.get() is ours
    assert ours.recv(8) == b"GET"
    assert len(unheard) == 0


async def test_who_ends_without_a_word_is_forgotten(pair, unheard):
    ours, theirs = pair
    unheard.add(ours, 0.0)
    theirs.shutdown(socket.SHUT_WR)
    assert await end_of(theirs) == b""
    assert len(unheard) == 0


async def test_those_that_came_until_then_are_named_oldest_first(unheard):
    ends = [socket.socketpair() for _ in range(3)]
    for since, (ours, _) in enumerate(ends):
        unheard.add(ours, float(since))
    assert unheard.oldest(1.0) == [ours for ours, _ in ends[:2]]
    for _, theirs in ends:
        theirs.close()


async def test_those_that_say_nothing_make_no_protocol_and_leave_for_who_speaks():
    spoke, now = asyncio.Queue[asyncio.BaseTransport](), [0.0]

    class Spoken(asyncio.Protocol):
        def connection_made(self, transport):
            spoke.put_nowait(transport)
            transport.close()

    with socket.create_server(("127.0.0.1", 0), backlog=64) as port, contextlib.ExitStack() as clients:
        room = ConnectionLimit(port, lambda room: Spoken(), 16, lambda: now[0])
        clients.callback(room.close)
        room.open()
        silent = [clients.enter_context(socket.create_connection(port.getsockname())) for _ in range(24)]
        for client in silent:
            client.setblocking(False)
        speaker = clients.enter_context(socket.create_connection(port.getsockname()))
        speaker.sendall(b"G")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert spoke.empty()
        now[0] += SILENT_SECONDS
        room.sweep()
        assert await end_of(silent[0]) == b""
        await spoke.get()
        assert spoke.empty()
