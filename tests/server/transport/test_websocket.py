"""What the other end of a websocket may send, and how much of it (RFC 6455)."""

import asyncio
import base64
import os
import struct
from collections import Counter
from contextlib import suppress

import msgspec
import pytest

from pie_mlx.server.session.connection import INBOX_FRAMES, Connection
from pie_mlx.server.transport.websocket import CONTROL_FRAMES, FRAGMENTS, Websocket
from tests.server.speaking import hang_up, speak

pytestmark = pytest.mark.timeout(30)

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
ASK = msgspec.msgpack.encode({"type": "ping", "corr_id": 1})


def frame(opcode, data=b"", *, last=True, reserved=0):
    """As a client masks it: with zeros."""
    first = (0x80 if last else 0) | reserved | opcode
    length = struct.pack(">BB", first, 0x80 | len(data)) if len(data) < 126 else b""
    return (length or struct.pack(">BBQ", first, 0xFF, len(data))) + bytes(4) + data


class Peer:
    """A client that sends bytes of its choice, and reads frames."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    async def send(self, data):
        with suppress(ConnectionError):  # told by what is read
            self.writer.write(data)
            await self.writer.drain()

    async def frame(self):
        first, second = await self.reader.readexactly(2)
        size = second
        if second == 126:
            (size,) = struct.unpack(">H", await self.reader.readexactly(2))
        return first & 0x0F, await self.reader.readexactly(size)

    async def response(self):
        while (found := await self.frame())[0] != BINARY:
            pass
        return msgspec.msgpack.decode(found[1])["result"]

    async def closed(self):
        """Code and reason."""
        while (found := await self.frame())[0] != CLOSE:
            pass
        return struct.unpack(">H", found[1][:2])[0], found[1][2:].decode()


@pytest.fixture
async def peer(server):
    port = int(server.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 10)  # reads little ahead
    key = base64.b64encode(os.urandom(16)).decode()
    writer.write(
        "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n".encode()
    )
    await reader.readuntil(b"\r\n\r\n")
    yield Peer(reader, writer)
    await hang_up(writer)


async def test_control_frames_come_between_fragments(peer):
    await peer.send(frame(BINARY, ASK[:1], last=False) + frame(PING, b"a") + frame(CONTINUATION, b"", last=False))
    assert await peer.frame() == (PONG, b"a")
    await peer.send(frame(CONTINUATION, ASK[1:]))
    assert await peer.response() == "Pong"


async def test_a_message_in_single_bytes_is_one(peer):
    pieces = [frame(CONTINUATION, ASK[place : place + 1], last=False) for place in range(1, len(ASK))]
    await peer.send(frame(BINARY, ASK[:1], last=False) + b"".join(pieces) + frame(CONTINUATION))
    assert await peer.response() == "Pong"


@pytest.mark.parametrize("data", [b"", b"x"])
async def test_fragments_are_counted(peer, data):
    sending = asyncio.create_task(
        peer.send(frame(BINARY, data, last=False) + frame(CONTINUATION, data, last=False) * FRAGMENTS)
    )
    assert await peer.closed() == (1008, f"a message has at most {FRAGMENTS} fragments")
    await sending


async def test_a_message_without_end_is_too_long_at_last(peer):
    megabyte = frame(CONTINUATION, bytes(1 << 20), last=False)
    sending = asyncio.create_task(peer.send(frame(BINARY, last=False) + megabyte * 17))
    assert (await peer.closed())[0] == 1009
    await sending


@pytest.mark.parametrize("opcode", [PING, PONG])
async def test_pings_are_counted(peer, opcode):
    sending = asyncio.create_task(peer.send(frame(opcode) * (CONTROL_FRAMES + 1)))
    assert await peer.closed() == (1008, f"too many pings: at most {CONTROL_FRAMES} in 10 s")
    await sending


async def test_as_many_pings_as_a_client_could_mean_are_answered(peer):
    await peer.send(frame(PING, b"a") * 100)
    for _ in range(100):
        assert await peer.frame() == (PONG, b"a")


async def test_what_is_compressed_is_refused(peer):
    await peer.send(frame(BINARY, ASK, reserved=0x40))
    assert await peer.closed() == (1002, "reserved bits must be 0")


async def test_text_is_refused_in_fragments_too(peer):
    await peer.send(frame(TEXT, b"a", last=False))
    assert (await peer.closed())[0] == 1003


@pytest.fixture
def engine_side(monkeypatch):
    """The transports of websockets, as the engine gets them."""
    found, made = [], Websocket.connection_made

    def keep(self, transport):
        found.append(transport)
        made(self, transport)

    monkeypatch.setattr(Websocket, "connection_made", keep)
    return found


@pytest.fixture
def unanswered(monkeypatch):
    """How many requests the engine holds, or their answers."""
    held, received, next_frame = Counter(), Connection.received, Connection.next_frame

    def count_request(self, frame):
        held["frames"] += 1
        received(self, frame)

    def count_answer(self):
        found = next_frame(self)
        held["frames"] -= found is not None
        return found

    monkeypatch.setattr(Connection, "received", count_request)
    monkeypatch.setattr(Connection, "next_frame", count_answer)
    return held


async def test_a_client_that_does_not_read_its_answers_is_not_read_from(server, engine_side, unanswered, peer):
    """Whatever the system buffers between the two, the engine keeps little; a client that reads again gets it all."""
    (transport,) = engine_side
    query = msgspec.msgpack.encode({"type": "query", "corr_id": 1, "subject": "engine_info", "record": ""})

    async def ask():
        while True:
            await peer.send(frame(BINARY, query) * 100)

    asking = asyncio.create_task(ask())
    async with await speak(server, "ada") as other:
        while transport.get_write_buffer_size() <= transport.get_write_buffer_limits()[1]:
            await other.ask("ping")
        for _ in range(200):  # time to read on
            await other.ask("ping")
    assert not transport.is_reading()
    assert unanswered["frames"] < 4 * INBOX_FRAMES
    for _ in range(10_000):
        assert "pie-mlx" in await peer.response()
    asking.cancel()
