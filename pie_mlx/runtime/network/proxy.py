"""The proxy of one worker."""

import asyncio
import socket
from functools import partial

from pie_mlx.runtime.acceptor import Acceptor
from pie_mlx.runtime.network.border import Border
from pie_mlx.runtime.network.exchange import HEAD_BYTES, Exchange, mark_broken
from pie_mlx.runtime.network.rejection import Rejection


class Proxy:
    """Serves a listening socket, which it owns. Belongs to one loop, where it is started and closed."""

    def __init__(self, listener: socket.socket, border: Border, *, connections: int, authorization: str = "") -> None:
        self._acceptor = Acceptor(listener, self._accepted)
        self._border = border
        self._connections = connections
        self._authorization = authorization
        self._serving: set[asyncio.Task[None]] = set()

    @property
    def open_connections(self) -> int:
        return len(self._serving)

    def start(self) -> None:
        self._acceptor.start()

    def close(self) -> None:
        """Accept nothing more, and end what is open. Idempotent."""
        self._acceptor.close()
        for task in list(self._serving):
            task.cancel()

    def _accepted(self, connection: socket.socket) -> None:
        full = len(self._serving) >= self._connections
        task = asyncio.get_running_loop().create_task(self._serve(connection, full=full))
        self._serving.add(task)
        task.add_done_callback(partial(self._part, connection))

    def _part(self, connection: socket.socket, task: asyncio.Task[None]) -> None:
        self._serving.discard(task)
        connection.close()

    async def _serve(self, connection: socket.socket, *, full: bool) -> None:
        try:
            reader, writer = await asyncio.open_connection(sock=connection, limit=HEAD_BYTES)
        except OSError:
            return
        exchange = Exchange(reader, writer, self._border, self._authorization)
        try:
            if full:
                text = f"{self._connections} connections are open, and that is the limit: close some"
                await exchange.refuse(Rejection(503, text))
            else:
                await exchange.run()
            writer.close()
            await writer.wait_closed()
        except OSError:
            mark_broken(writer)
        except BaseException:
            mark_broken(writer)
            raise
        finally:
            writer.transport.abort()
