"""How a server ends to listen."""

import asyncio
import gc
import socket
from typing import Any, cast

import uvicorn

from pie_mlx.server.listener import Listener


class Connected(asyncio.Protocol):
    def __init__(self, transports: list[asyncio.BaseTransport]) -> None:
        self.transports = transports

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transports.append(transport)


async def test_a_connection_that_was_just_accepted_is_not_left_open(tmp_path) -> None:
    transports: list[asyncio.BaseTransport] = []
    server = await asyncio.get_running_loop().create_unix_server(lambda: Connected(transports), tmp_path / "s")
    listener = Listener(uvicorn.Config(cast("Any", None)))
    listener.servers = [server]
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(tmp_path / "s"))
        for _ in range(2):  # it is accepted in the second turn, behind this task
            await asyncio.sleep(0)
        listener.refuse_more()
        for _ in range(4):
            await asyncio.sleep(0)
        gc.collect()  # what nobody has closed would warn
        assert len(transports) == 1
        transports[0].close()
        await server.wait_closed()
