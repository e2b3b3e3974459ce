"""The proxies of all workers, one per worker."""

import asyncio
import contextlib
import socket
from functools import partial

from pie_mlx.errors import EngineStoppedError, LaunchError
from pie_mlx.runtime.execution.loops import LoopThread
from pie_mlx.runtime.network.acceptor import Acceptor
from pie_mlx.runtime.network.allowed_hosts import AllowedHosts
from pie_mlx.runtime.network.egress import EgressConnector
from pie_mlx.runtime.network.proxy_connection import HEAD_BYTES, ProxyConnection, Report, mark_broken, unreported
from pie_mlx.runtime.network.rejection import Rejection
from pie_mlx.runtime.network.settings import NetworkSettings


class Proxy:
    """The proxy of one worker: serves a listening socket, which it owns. Belongs to one loop."""

    def __init__(
        self,
        listener: socket.socket,
        egress: EgressConnector,
        *,
        connections: int,
        authorization: str = "",
        report: Report = unreported,
    ) -> None:
        self._acceptor = Acceptor(listener, self._accepted)
        self._egress = egress
        self._connections = connections
        self._authorization = authorization
        self._report = report
        self._serving: set[asyncio.Task[None]] = set()

    @property
    def open_connections(self) -> int:
        return len(self._serving)

    def start(self) -> None:
        self._acceptor.start()

    def close(self) -> None:
        """Stop accepting, and end open connections. Idempotent."""
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
        exchange = ProxyConnection(reader, writer, self._egress, self._authorization, self._report)
        try:
            if full:
                text = f"{self._connections} connections are open, which is the limit: close some"
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


class Gateway:
    """All proxies. Usable from any thread; they run on one thread, started with the first proxy.

    Raises ConfigError for invalid allowed hosts.
    """

    def __init__(self, settings: NetworkSettings) -> None:
        self._settings = settings
        self._closed_ports: set[int] = set()
        self._egress = EgressConnector(AllowedHosts(settings.allowed_hosts), self._closed_ports, settings.resolve)
        self._thread = LoopThread("pie-network")
        self._proxies: set[Proxy] = set()

    def close_port(self, port: int) -> None:
        """Close a port of this machine to programs, whatever they are allowed."""
        self._closed_ports.add(port)

    def open(self, listener: socket.socket, authorization: str = "", report: Report = unreported) -> Proxy:
        """Start a proxy on `listener`, which it will close. `report` is called on the thread of the proxies.

        Raises EngineStoppedError, and LaunchError if no more files can be opened.
        """
        proxy = Proxy(
            listener,
            self._egress,
            connections=self._settings.connections,
            authorization=authorization,
            report=report,
        )
        self._proxies.add(proxy)
        try:
            self._thread.post(proxy.start)
        except EngineStoppedError:
            listener.close()
            raise
        except OSError as error:
            listener.close()
            self._proxies.discard(proxy)
            raise LaunchError(f"network: {error.strerror}", hint="raise the limit of open files") from None
        return proxy

    def shut(self, proxy: Proxy) -> None:
        """End a proxy and all its connections."""
        self._proxies.discard(proxy)
        with contextlib.suppress(EngineStoppedError):  # already closed
            self._thread.post(proxy.close)

    async def close(self) -> None:
        """End all of them. Idempotent."""
        await self._thread.close(self._close_all)

    async def _close_all(self) -> None:
        for proxy in list(self._proxies):
            proxy.close()
        self._proxies.clear()
