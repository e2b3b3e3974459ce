"""The proxies of all workers."""

import contextlib
import socket

from pie_mlx.errors import EngineStoppedError, LaunchError
from pie_mlx.runtime.execution.loops import LoopThread
from pie_mlx.runtime.network.allowed_hosts import AllowedHosts
from pie_mlx.runtime.network.border import Border
from pie_mlx.runtime.network.proxy import Proxy
from pie_mlx.runtime.network.settings import NetworkSettings


class Gateway:
    """Usable from any thread; the proxies live on one of their own, which begins with the first of them.

    Raises ConfigError for allowed hosts that mean nothing.
    """

    def __init__(self, settings: NetworkSettings) -> None:
        self._settings = settings
        self._closed_ports: set[int] = set()
        self._border = Border(AllowedHosts(settings.allowed_hosts), self._closed_ports, settings.resolve)
        self._thread = LoopThread("pie-network")
        self._proxies: set[Proxy] = set()

    def close_port(self, port: int) -> None:
        """Keep programs from a port of this machine, whatever they are allowed."""
        self._closed_ports.add(port)

    def open(self, listener: socket.socket, authorization: str = "") -> Proxy:
        """A proxy that serves `listener`, and closes it in the end.

        Raises EngineStoppedError, and LaunchError where no more files can be opened.
        """
        proxy = Proxy(listener, self._border, connections=self._settings.connections, authorization=authorization)
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
        with contextlib.suppress(EngineStoppedError):  # then it is closed already
            self._thread.post(proxy.close)

    async def close(self) -> None:
        """End all of them. Idempotent."""
        await self._thread.close(self._close_all)

    async def _close_all(self) -> None:
        for proxy in list(self._proxies):
            proxy.close()
        self._proxies.clear()
