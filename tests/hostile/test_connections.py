"""Clients that come in crowds, say little, read nothing, or send the smallest pieces there are."""

import asyncio
import resource
import socket
import threading
import time
from collections import Counter
from contextlib import ExitStack, suppress

import msgspec
import psutil
import pytest

from tests.server.transport.test_websocket import BINARY, CONTINUATION, PING, frame

CHAT = b'{"model":"pie-tiny","messages":[{"role":"user","content":"hi"}],"max_tokens":2}'
POST = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
QUERY = msgspec.msgpack.encode({"type": "query", "corr_id": 1, "subject": "engine_info", "record": ""})
HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
MEGABYTE = 1 << 20


def address(target):
    return "127.0.0.1", int(target.http.rpartition(":")[2])


@pytest.fixture
def connected(target):
    """Makes connections that are closed in the end, and waits then until the engine has closed its ends too."""
    engine = psutil.Process(target.child.pid)
    before = engine.num_fds()
    with ExitStack() as stack:
        yield lambda: stack.enter_context(socket.create_connection(address(target), timeout=20))
    while engine.num_fds() > before + 8:  # what /health and workers have for a moment
        pass


def send_while_taken(connection, data, megabytes):
    """Until so much is sent, or the engine takes nothing for half a second, or hangs up."""
    connection.settimeout(0.5)
    sent = 0
    with suppress(OSError):
        while sent < megabytes * MEGABYTE:
            sent += connection.send(data)


async def ask(where, request):
    """The first line of the answer, or the name of the error."""
    try:
        reader, writer = await asyncio.open_connection(*where)
        writer.write(request)
        answer = await reader.read()
        writer.close()
    except OSError as error:
        return type(error).__name__
    return answer.partition(b"\r\n")[0].decode() or "nothing"


@pytest.mark.timeout(60)
def test_a_thousand_requests_at_once_are_all_answered(target):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    request = POST + b"Content-Length: %d\r\n\r\n" % len(CHAT) + CHAT

    async def crowd():
        return Counter(await asyncio.gather(*(ask(address(target), request) for _ in range(1000))))

    answers = asyncio.run(crowd())
    assert set(answers) <= {"HTTP/1.1 200 OK", "HTTP/1.1 503 Service Unavailable"}
    assert answers.total() == 1000
    assert answers["HTTP/1.1 200 OK"] >= 900


@pytest.mark.timeout(60)
def test_heads_that_drip_end_in_time_and_keep_nobody_out(target, connected):
    """Also the head of the second request of a connection."""
    first = [connected() for _ in range(250)]
    second = [connected() for _ in range(250)]
    ended = 0
    for connection in second:
        connection.sendall(HEALTH + b"\r\n")
    with target.stays_healthy(growth_bytes=30 * MEGABYTE):
        begun = time.monotonic()
        while time.monotonic() < begun + 13 and ended < 500:
            ended = 0
            for connection in first + second:
                try:
                    connection.send(b"X")
                except OSError:
                    ended += 1
            threading.Event().wait(0.5)
    assert ended == 500


def test_who_reads_no_answers_costs_little(target, connected):
    with target.stays_healthy(growth_bytes=30 * MEGABYTE):
        for _ in range(4):
            send_while_taken(connected(), (HEALTH + b"\r\n") * 1000, 8)


@pytest.mark.parametrize(
    "flood",
    [frame(PING, b"x" * 125), frame(PING), frame(CONTINUATION, b"x", last=False), frame(CONTINUATION, last=False)],
    ids=["long pings", "short pings", "short fragments", "empty fragments"],
)
def test_floods_of_frames_cost_little(target, connected, flood):
    with target.stays_healthy(growth_bytes=20 * MEGABYTE):
        connection = connected()
        connection.sendall(HANDSHAKE)
        connection.recv(4096)
        connection.sendall(frame(BINARY, last=False))
        send_while_taken(connection, flood * 2000, 16)


def test_who_asks_and_never_reads_the_responses_costs_little(target, connected):
    with target.stays_healthy(growth_bytes=20 * MEGABYTE):
        connection = connected()
        connection.sendall(HANDSHAKE)
        connection.recv(4096)
        send_while_taken(connection, frame(BINARY, QUERY) * 1000, 32)


@pytest.mark.parametrize(
    "data",
    [
        POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 40_000,
        HEALTH + b"a:\r\n" * 100_000,
        HEALTH + b"X: " + b"a" * MEGABYTE,
        (HEALTH + b"Upgrade: h2c\r\nConnection: Upgrade\r\n\r\n") * 500,
        (HEALTH + b"Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n") * 2000,
        b"\0" * MEGABYTE,
    ],
    ids=["chunks of a byte", "headers", "a long header", "upgrades", "handshakes", "zeros"],
)
def test_odd_requests_cost_little(target, connected, data):
    with target.stays_healthy(growth_bytes=20 * MEGABYTE):
        send_while_taken(connected(), data, len(data) / MEGABYTE)


def test_thousands_of_requests_in_a_row_are_answered_in_a_row(target, connected):
    connection, count, rest = connected(), 2000, b""
    with target.stays_healthy():
        sending = threading.Thread(target=connection.sendall, args=((HEALTH + b"\r\n") * count,))
        sending.start()
        while rest.count(b"HTTP/1.1 200") < count:
            rest += connection.recv(MEGABYTE)
        sending.join()


@pytest.mark.timeout(60)
def test_with_all_places_taken_health_and_this_account_still_get_through(target, connected):
    """256 websockets, and 1,000 requests whose bodies never come."""
    for _ in range(256):
        connection = connected()
        connection.sendall(HANDSHAKE)
        connection.recv(4096)
    for _ in range(1000):
        connected().sendall(POST + b"Content-Length: 100\r\n\r\n")
    asyncio.run(ask(address(target), HEALTH + b"Connection: close\r\n\r\n"))  # by then all of them are there
    with target.stays_healthy():
        code, out, err = target.pie("ps", "--json")
        assert (code, out.strip()) == (0, "[]"), err


@pytest.mark.timeout(60)
def test_without_file_descriptors_the_engine_rests_and_comes_back(make_target):
    target = make_target()
    engine = psutil.Process(target.child.pid)
    resource.prlimit(engine.pid, resource.RLIMIT_NOFILE, (engine.num_fds() + 4,) * 2)
    with ExitStack() as stack:
        held = [stack.enter_context(socket.create_connection(address(target), timeout=20)) for _ in range(20)]
        spent = sum(engine.cpu_times()[:2])
        threading.Event().wait(1)
        assert sum(engine.cpu_times()[:2]) - spent < 0.5
        assert held
    with target.stays_healthy():
        assert asyncio.run(ask(address(target), HEALTH + b"Connection: close\r\n\r\n")) == "HTTP/1.1 200 OK"
