"""Connects a debugger with the worker that it debugs."""

import asyncio
import contextlib
import importlib.util
import socket

from pie_mlx.errors import LaunchError

HOST = "127.0.0.1"
_READ_BYTES = 64 << 10


def debug_listener(port: int) -> socket.socket:
    """Where a debugger connects: a port of this machine alone. Raises LaunchError, also where debugpy is missing."""
    if importlib.util.find_spec("debugpy") is None:
        raise LaunchError("debugger: debugpy is not installed", hint="pip install 'pie-mlx[debug]'")
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise LaunchError(f"debugger: port {port}: {error.strerror}", hint="name another port") from None


class DebugRelay:
    """Accepts one client on `listener`, which it owns, and passes bytes between it and `worker`. Belongs to `loop`."""

    def __init__(self, loop: asyncio.AbstractEventLoop, listener: socket.socket, worker: socket.socket) -> None:
        self._loop = loop
        self._sockets = [listener, worker]
        for one in self._sockets:
            one.setblocking(False)
        self.attached = False
        self._task = loop.create_task(self._run(listener, worker))

    def close(self) -> None:
        """Idempotent."""
        self._task.cancel()

    async def _run(self, listener: socket.socket, worker: socket.socket) -> None:
        try:
            client, _ = await self._loop.sock_accept(listener)
            self._sockets.append(client)
            self.attached = True
            listener.close()  # a debugger can do what the program can: one is let in
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await asyncio.gather(self._pass(client, worker), self._pass(worker, client))
        finally:
            for one in self._sockets:
                one.close()

    async def _pass(self, source: socket.socket, target: socket.socket) -> None:
        """Until the source ends, of which the target hears."""
        with contextlib.suppress(OSError):
            while data := await self._loop.sock_recv(source, _READ_BYTES):
                await self._loop.sock_sendall(target, data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)
