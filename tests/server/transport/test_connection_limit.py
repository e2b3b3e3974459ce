"""How many connections a port has at once, and which of them go."""

import asyncio
import socket

import pytest

from pie_mlx.server.transport.connection_limit import ConnectionLimit, neighbourhood

pytestmark = pytest.mark.timeout(20)


class LimitedConnection:
    """A connection that does what a test wants."""

    def __init__(self, room, address="10.0.0.1"):
        self.room, self.silent, self.overdue, self.gone = room, False, False, False
        self.placed = room.enter(self, address)

    def is_silent(self, now):
        return self.silent

    def is_overdue(self, now):
        return self.overdue

    def hang_up(self):
        self.gone = True
        self.room.leave(self)


class Accepted(asyncio.Protocol):
    """Hangs up at the first word, so that a client sees when it was accepted."""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.transport.close()


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as bound:
        yield bound


@pytest.fixture
async def room(port):
    """With eight places and four spare ones."""
    made = ConnectionLimit(port, lambda room: Accepted(), 8)
    yield made
    made.close()


def guests(room, count, address="127.0.0.1"):
    return [LimitedConnection(room, address) for _ in range(count)]


async def test_who_comes_when_all_places_are_taken_has_none(room):
    assert [guest.placed for guest in guests(room, 10)] == [True] * 8 + [False] * 2


async def test_a_place_that_was_left_is_given_to_who_asks_again(room):
    first, *_, last = guests(room, 9)
    assert not room.place(last)
    first.hang_up()
    assert room.place(last)
    assert room.place(last)  # and is kept


async def test_another_machine_gets_half_of_the_places(room):
    assert [guest.placed for guest in guests(room, 6, "10.0.0.1")] == [True] * 4 + [False] * 2
    assert all(guest.placed for guest in guests(room, 4, "10.0.0.2"))


async def test_nobody_goes_while_there_is_room(room):
    here = guests(room, 7)
    for guest in here:
        guest.silent = True
    room.sweep()
    assert not any(guest.gone for guest in here)


async def test_the_oldest_of_the_silent_ones_go_when_few_places_are_left(room):
    here = guests(room, 9)
    for guest in here[2:]:
        guest.silent = True
    room.sweep()
    assert [guest.gone for guest in here] == [False, False, True, True] + [False] * 5


async def test_who_speaks_stays_however_many_come(room):
    here = guests(room, 12)
    room.sweep()
    assert not any(guest.gone for guest in here)


async def test_who_is_overdue_goes_however_few_there_are(room):
    one, other = guests(room, 2)
    one.overdue = True
    room.sweep()
    assert (one.gone, other.gone) == (True, False)


async def test_connections_wait_in_the_backlog_until_there_is_room(room, port):
    room.open()
    here = guests(room, 12)
    with socket.create_connection(port.getsockname()) as client:
        client.sendall(b"G")
        client.setblocking(False)
        for _ in range(10):  # more turns than it takes to accept one
            await asyncio.sleep(0)
        with pytest.raises(BlockingIOError):
            client.recv(1)
        here[0].hang_up()
        assert await asyncio.get_running_loop().sock_recv(client, 1) == b""


@pytest.mark.parametrize(
    ("address", "source"),
    [
        ("", ""),
        ("127.0.0.1", ""),
        ("127.9.9.9", ""),
        ("::1", ""),
        ("::ffff:127.0.0.1", ""),
        ("10.0.0.1", "10.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:1:2:3", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
    ],
)
def test_what_counts_as_one_machine(address, source):
    assert neighbourhood(address) == source
