import asyncio
import contextlib

import pytest

from pie_mlx.runtime.network.allowed_hosts import AllowedHosts
from pie_mlx.runtime.network.egress import EgressConnector
from pie_mlx.runtime.network.gateway import Proxy
from pie_mlx.runtime.network.proxy_connection import unreported
from pie_mlx.runtime.worker.proxy_route import open_listener

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


async def until(condition):
    """Let the loop turn until something holds."""
    while not condition():  # noqa: ASYNC110 - nobody is told
        await asyncio.sleep(0)


class Names:
    """A resolver that knows a few names, and counts what it is asked."""

    def __init__(self, **addresses):
        self.addresses = {name.replace("_", "."): found for name, found in addresses.items()}
        self.asked = []

    async def __call__(self, name, port):
        self.asked.append(name)
        if name not in self.addresses:
            raise OSError(f"no such name: {name}")
        found = self.addresses[name]
        return found.pop(0) if found and isinstance(found[0], list) else found


class Site:
    """A server on this machine. `head` is what it was sent first, `gone` is set when its visitor has left."""

    def __init__(self, handle):
        self._handle = handle
        self.head = b""
        self.visits = 0
        self.gone = asyncio.Event()

    async def __call__(self, reader, writer):
        self.visits += 1
        try:
            await self._handle(self, reader, writer)
        except ConnectionError:
            pass
        finally:
            self.gone.set()
            writer.close()

    async def read_head(self, reader):
        self.head = await reader.readuntil(b"\r\n\r\n")


async def greet(site, reader, writer):
    await site.read_head(reader)
    writer.write(OK)


async def echo(site, reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


@contextlib.asynccontextmanager
async def serving(handle=greet, host="127.0.0.1", **options):
    """A site and its port."""
    site = Site(handle)
    server = await asyncio.start_server(site, host, 0, **options)
    try:
        yield site, server.sockets[0].getsockname()[1]
    finally:
        server.close()


@pytest.fixture
async def proxied():
    """Makes proxies: what talks to one, given as bytes, answers the proxy's bytes until it closes."""
    made = []

    def make(
        allowed=("127.0.0.1",), *, resolve=None, closed_ports=(), connections=8, authorization="", report=unreported
    ):
        egress = EgressConnector(AllowedHosts(allowed), closed_ports, resolve or Names())
        listener = open_listener()
        proxy = Proxy(listener, egress, connections=connections, authorization=authorization, report=report)
        proxy.start()
        made.append(proxy)
        return Talk(proxy, listener.getsockname()[1])

    yield make
    for proxy in made:
        proxy.close()
    await until(lambda: not any(proxy.open_connections for proxy in made))


class Talk:
    """Talks to a proxy."""

    def __init__(self, proxy, port):
        self.proxy, self._port = proxy, port

    async def connect(self, **options):
        return await asyncio.open_connection("127.0.0.1", self._port, **options)

    async def ask(self, request):
        """The whole answer to a whole request."""
        reader, writer = await self.connect()
        writer.write(request.encode() if isinstance(request, str) else request)
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer.decode()

    async def tunnel(self, target):
        """A tunnel that is established."""
        reader, writer = await self.connect()
        writer.write(f"CONNECT {target} HTTP/1.1\r\n\r\n".encode())
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 200 Connection established\r\n\r\n"
        return reader, writer
