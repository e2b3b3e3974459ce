"""Clients and web pages that reach for what is not theirs, each in many ways."""

import io
import socket
import stat
import zipfile

import pytest
from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import InvalidStatus

from pie_mlx.client import connect
from pie_mlx.errors import LaunchError, PieError
from tests.hostile.launching import MANIFEST

MAIN = b"async def main(input):\n    return 'done'\n"
NAMES = [
    "evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1@evil.example",
    "evil.example#localhost", "localhost evil.example", "[::1].evil.example", "0.0.0.0", "127.0.0.2", "2130706433",
    "0x7f000001", "127.1", "localhost.", "[::ffff:127.0.0.1]", "169.254.169.254", "", " ",
]  # fmt: skip
"""What a browser says of a name that was rebound to this machine, and what looks like this machine."""
ORIGINS = [
    "http://evil.example", "https://evil.example", "null", "file://", "http://localhost", "http://127.0.0.1",
    "http://localhost.evil.example", "chrome-extension://abc", "http://evil.example\x00", "", "*", "http://[::1]",
]  # fmt: skip
"""Pages that no setting allows, those of other servers on this machine among them."""
REQUESTS = ["GET /metrics", "POST /v1/chat/completions", "GET /v1/models", "GET /api/v1/inferlets/x", "GET /health"]


def exchange(target, request, *, half_closed=False):
    """Everything the server says to these bytes until it closes the connection."""
    host, _, port = target.http.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(request)
        if half_closed:
            connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(1 << 16):
            answer += piece
    return answer


def status(answer):
    return int(answer.split()[1])


@pytest.mark.parametrize("request_line", REQUESTS)
def test_a_name_that_was_rebound_to_this_machine_is_refused(target, request_line):
    with target.stays_healthy():
        for name in NAMES:
            head = f"{request_line} HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            assert status(exchange(target, head.encode())) in (400, 403), name


@pytest.mark.parametrize("request_line", REQUESTS)
def test_a_foreign_page_is_refused_and_gets_no_permission_to_read(target, request_line):
    for origin in ORIGINS:
        head = f"{request_line} HTTP/1.1\r\nHost: localhost\r\nOrigin: {origin}\r\nConnection: close\r\n"
        answer = exchange(target, f"{head}Content-Length: 0\r\n\r\n".encode())
        assert status(answer) in (400, 403), origin
        assert b"access-control" not in answer.lower()


@pytest.mark.parametrize(("field", "values"), [("Host", NAMES[:6]), ("Origin", ORIGINS[:8])])
async def test_neither_gets_a_websocket(target, field, values):
    for value in values:
        with pytest.raises(InvalidStatus, match=r"40[03]"):
            async with open_websocket(target.url, **_handshake(field, value)):
                pass


def _handshake(field, value):
    return {"origin": value} if field == "Origin" else {"additional_headers": {"Host": value}}


AMBIGUOUS = [
    "Content-Length: 0\r\nContent-Length: 36",
    "Content-Length: 0, 36",
    "Content-Length: +0",
    "Content-Length: -1",
    "Content-Length: 0x0",
    "Content-Length: 0\r\nTransfer-Encoding: chunked, identity",
    "Transfer-Encoding: xchunked",
    "Transfer-Encoding : chunked",
    "Transfer-Encoding:\x0bchunked",
    " Transfer-Encoding: chunked",
    "Content-Length : 0",
    "X: y\nTransfer-Encoding: chunked",
]
"""Lengths that two readers may understand differently."""


def test_a_second_request_cannot_be_smuggled_in_a_first(target):
    for field in AMBIGUOUS:
        first = f"POST /v1/models HTTP/1.1\r\nHost: localhost\r\n{field}\r\n\r\n"
        second = "0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
        answer = exchange(target, (first + second).encode(), half_closed=True)
        assert b"python_info" not in answer, field
        assert b"pie_" not in answer, field


def archive(*entries):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in (("main.py", MAIN), *entries):
            file.writestr(name, data)
    return buffer.getvalue()


def special(name, kind):
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (kind | 0o777) << 16
    return entry


def encrypted():
    data = bytearray(archive(("x", b"x")))
    data[data.rindex(b"PK\1\2") + 8] |= 1
    return bytes(data)


PACKAGES = {
    "parent": archive(("../escaped", b"x")),
    "deep parent": archive(("a/../../escaped", b"x")),
    "absolute": archive(("/tmp/escaped", b"x")),
    "backslash": archive(("..\\escaped", b"x")),
    "control character": archive(("a\x1bescaped", b"x")),
    "symbolic link": archive((special("link", stat.S_IFLNK), b"/etc")),
    "device": archive((special("device", stat.S_IFCHR), b"")),
    "pipe": archive((special("pipe", stat.S_IFIFO), b"")),
    "two names that meet": archive(("Data", b"x"), ("data", b"y")),
    "file and folder": archive(("a", b"x"), ("a/b", b"y")),
    "bomb": archive(("zeros", bytes(8 << 20))),
    "entries": archive(*((f"n{number}", b"") for number in range(5000))),
    "encrypted": encrypted(),
    "cut": archive(("x", bytes(100)))[:-20],
    "no main": archive()[:0] + b"PK\5\6" + bytes(18),
    "prefixed": b"#!/bin/sh\n" * 100 + archive(("../escaped", b"x")),
}


async def test_packages_that_reach_out_of_their_folder_are_refused_and_leave_nothing(target, tmp_path):
    async with await connect(target.url, username="mallory") as client:
        with target.stays_healthy():
            for payload in PACKAGES.values():
                with pytest.raises(LaunchError, match=r"package|main\.py"):
                    await client.install(payload, MANIFEST.format(name="hostile"))
        with pytest.raises(PieError, match="not installed"):
            await client.launch("hostile")
    written = {path.name for path in target.home.rglob("*")}
    assert written.isdisjoint({"escaped", "link", "device", "pipe", "zeros", "hostile"})
