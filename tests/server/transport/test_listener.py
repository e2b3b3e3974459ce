"""How a server begins and ends to listen."""

import asyncio
import gc
import socket
from typing import Any, cast

import uvicorn

from pie_mlx.server.transport.listener import Listener


class Port(socket.socket):
    """Counts the connections that were accepted."""

    accepted = 0

    def accept(self) -> tuple[socket.socket, Any]:
        found = super().accept()
        self.accepted += 1
        return found


async def test_a_connection_that_was_just_accepted_is_not_left_open() -> None:
    bound = Port()
    bound.bind(("127.0.0.1", 0))
    bound.listen()
    listener = Listener(uvicorn.Config(cast("Any", None), lifespan="off", log_config=None))
    serving = asyncio.create_task(listener.serve(sockets=[bound]))
    await listener.has_started.wait()
    with socket.create_connection(bound.getsockname()) as client:
        client.setblocking(False)
        for _ in range(2):  # it is accepted in the second turn, after this task
            await asyncio.sleep(0)
        assert bound.accepted == 1
        assert not listener.server_state.connections
        listener.refuse_more()
        assert await asyncio.get_running_loop().sock_recv(client, 1) == b""
        listener.should_exit = True
        await serving
    gc.collect()  # what nobody has closed would warn
