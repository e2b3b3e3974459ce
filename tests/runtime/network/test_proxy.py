"""The proxy of one worker, over real connections."""

import asyncio
import socket

import pytest

from pie_mlx.runtime.network import proxy_connection
from pie_mlx.runtime.worker.proxy_route import authorization
from tests.runtime.network.conftest import OK, echo, serving, until


async def test_a_request_is_carried_to_its_host(proxied):
    async with serving() as (site, port):
        answer = await proxied().ask(f"GET http://127.0.0.1:{port}/path HTTP/1.1\r\nA: b\r\n\r\n")
        assert answer == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"
        assert (
            site.head == f"GET /path HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nA: b\r\nConnection: close\r\n\r\n".encode()
        )


async def test_a_host_that_stays_connected_is_left(proxied):
    async def stay(site, reader, writer):
        await site.read_head(reader)
        writer.write(OK.replace(b"\r\n", b"\r\nConnection: keep-alive\r\n", 1))
        assert await reader.read() == b""

    async with serving(stay) as (site, port):
        reader, writer = await proxied().connect()
        writer.write(f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n".encode())
        assert b"Connection: close" in await reader.readuntil(b"hi")
        writer.close()
        await site.gone.wait()


async def test_a_body_is_carried(proxied):
    async def count(site, reader, writer):
        await site.read_head(reader)
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await reader.readexactly(300_000)
        writer.write(b"HTTP/1.0 200 OK\r\n\r\n%d" % len(body))

    async with serving(count) as (_, port):
        head = f"POST http://127.0.0.1:{port}/ HTTP/1.1\r\nContent-Length: 300000\r\n\r\n"
        answer = await proxied().ask(head.encode() + b"x" * 300_000)
        assert answer == "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\nConnection: close\r\n\r\n300000"


async def test_a_tunnel_carries_bytes_both_ways_and_their_ends(proxied):
    async with serving(echo) as (_, port):
        reader, writer = await proxied().tunnel(f"127.0.0.1:{port}")
        writer.write(b"one")
        assert await reader.readexactly(3) == b"one"
        writer.write(b"two")
        writer.write_eof()
        assert await reader.read() == b"two"
        writer.close()


async def test_a_refused_host_is_a_403_that_names_the_key(proxied):
    async with serving() as (site, port):
        for request in (f"GET http://127.0.0.1:{port}/", f"CONNECT 127.0.0.1:{port}"):
            answer = await proxied(["10.0.0.1"]).ask(f"{request} HTTP/1.1\r\n\r\n")
            assert answer.startswith("HTTP/1.1 403 Forbidden by [runtime] network_allowed_hosts, ")
            assert f"127.0.0.1 port {port}: not allowed" in answer
        assert site.visits == 0


async def test_a_refused_body_does_not_lose_the_answer(proxied):
    head = b"POST http://10.0.0.2/ HTTP/1.1\r\nContent-Length: 300000\r\n\r\n"
    assert (await proxied().ask(head + b"x" * 300_000)).startswith("HTTP/1.1 403")


async def test_what_is_no_request_for_a_proxy_is_a_400(proxied):
    assert "this is a proxy" in await proxied().ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    reader, writer = await proxied().connect()
    writer.write(b"GET http://a.b/ HT")
    writer.write_eof()
    assert (await reader.read()).startswith(b"HTTP/1.1 400")
    writer.close()


async def test_a_head_without_end_is_a_431(proxied):
    answer = await proxied().ask(b"GET http://a.b/ HTTP/1.1\r\nA: " + b"x" * (proxy_connection.HEAD_BYTES + 10))
    assert answer.startswith("HTTP/1.1 431")


async def test_a_request_that_does_not_come_is_a_408(proxied, monkeypatch):
    monkeypatch.setattr(proxy_connection, "HEAD_SECONDS", 0.01)
    assert (await proxied().ask("")).startswith("HTTP/1.1 408")


@pytest.mark.parametrize(
    "answer", [b"", b"SSH-2.0-x\r\n", b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 200 OK\r\nno field\r\n\r\n"]
)
async def test_a_host_that_speaks_no_http_is_a_502(proxied, answer):
    async def speak(site, reader, writer):
        await site.read_head(reader)
        writer.write(answer)

    async with serving(speak) as (_, port):
        found = await proxied().ask(f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n")
        assert found.startswith("HTTP/1.1 502")
        assert "not HTTP" in found


async def test_a_proxy_with_a_password_asks_for_it(proxied):
    async with serving() as (_, port):
        proxy = proxied(authorization=authorization("secret"))
        line = f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\n"
        answer = await proxy.ask(f"{line}\r\n")
        assert answer.startswith("HTTP/1.1 407")
        assert "Proxy-Authenticate: Basic" in answer
        wrong = await proxy.ask(f"{line}Proxy-Authorization: {authorization('other')}\r\n\r\n")
        assert wrong.startswith("HTTP/1.1 407")
        right = await proxy.ask(f"{line}Proxy-Authorization: {authorization('secret')}\r\n\r\n")
        assert right.startswith("HTTP/1.1 200")


async def test_connections_are_bounded(proxied):
    async with serving(echo) as (site, port):
        proxy = proxied(connections=2)
        tunnels = [await proxy.tunnel(f"127.0.0.1:{port}") for _ in range(2)]
        for _ in range(5):
            answer = await proxy.ask(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n")
            assert answer.startswith("HTTP/1.1 503")
            assert "2 connections are open" in answer
        assert site.visits == 2
        _, writer = tunnels[0]
        writer.close()
        await site.gone.wait()
        await until(lambda: proxy.proxy.open_connections == 1)
        _, writer = await proxy.tunnel(f"127.0.0.1:{port}")
        writer.close()
        tunnels[1][1].close()


async def test_a_slow_reader_holds_up_its_host(proxied):
    sent = 0
    total = 64 << 20

    async def pour(site, reader, writer):
        nonlocal sent
        while sent < total:
            writer.write(bytes(1 << 16))
            await writer.drain()
            sent += 1 << 16

    async with serving(pour) as (_, port):
        reader, writer = await proxied().tunnel(f"127.0.0.1:{port}")
        before = -1
        while before != sent:  # until the host waits
            before = sent
            for _ in range(1000):
                await asyncio.sleep(0)
        assert sent < total // 2
        received = 0
        while data := await reader.read(1 << 20):
            received += len(data)
        assert received == total
        writer.close()


async def test_closing_ends_every_connection(proxied):
    async with serving(echo) as (site, port):
        proxy = proxied()
        reader, writer = await proxy.tunnel(f"127.0.0.1:{port}")
        proxy.proxy.close()
        with pytest.raises(ConnectionResetError):
            await reader.readexactly(1)
        await site.gone.wait()
        writer.close()
        with pytest.raises(OSError):  # noqa: PT011 - refused, however the system calls it
            await proxy.connect()


async def test_a_visitor_that_leaves_frees_its_host(proxied):
    async def wait(site, reader, writer):
        await site.read_head(reader)
        await reader.read()

    async with serving(wait) as (site, port):
        _, writer = await proxied().connect()
        writer.write(f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n".encode())
        await until(lambda: site.visits)
        writer.close()
        await site.gone.wait()


async def test_a_host_that_breaks_off_is_told_to_the_visitor(proxied):
    async def drop(site, reader, writer):
        await reader.readexactly(1)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes([1] + [0] * 7))
        writer.transport.abort()

    async with serving(drop) as (_, port):
        reader, writer = await proxied().tunnel(f"127.0.0.1:{port}")
        writer.write(b"x")
        with pytest.raises(ConnectionResetError):
            await reader.readexactly(1)
        writer.close()


async def test_a_host_that_only_ever_continues_is_held_up(proxied):
    sent = 0

    async def go_on(site, reader, writer):
        nonlocal sent
        await site.read_head(reader)
        while True:
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)
            await writer.drain()
            sent += 1

    async with serving(go_on) as (site, port):
        _, writer = await proxied().connect(limit=1024)
        writer.write(f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n".encode())
        before = -1
        while before != sent or not sent:  # until the host waits
            before = sent
            for _ in range(1000):
                await asyncio.sleep(0)
        writer.close()
        await site.gone.wait()


async def test_each_request_is_reported_once_without_its_query_and_with_why_it_failed(proxied):
    told = []
    talk = proxied(report=lambda request, seconds, error: told.append((request.summary, request.host, seconds, error)))
    async with serving() as (_, port):
        await talk.ask(f"GET http://127.0.0.1:{port}/path?key=secret HTTP/1.1\r\n\r\n")
    await talk.ask("CONNECT elsewhere.test:443 HTTP/1.1\r\n\r\n")
    await until(lambda: len(told) == 2)
    (fetched, host, seconds, error), (tunnel, refused, _, why) = told
    assert (fetched, host, seconds >= 0, error) == ("GET /path", "127.0.0.1", True, "")
    assert (tunnel, refused) == ("", "elsewhere.test")
    assert why.startswith("elsewhere.test: cannot resolve it")
