"""The monitor in a browser: `pie top --web`, on the loopback address, for who has the token in the address."""

import asyncio
import hmac
import secrets
import shlex
import socket
import sys
from collections.abc import Sequence

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from textual_serve.server import Server

from pie_mlx.server.access.request_checks import check_host

HOST = "127.0.0.1"
PARAMETER = "token"


class MonitorServer(Server):
    """Each visitor gets a monitor of their own, a process that runs `words`.

    The first request names the token in its address, later ones in a cookie. Pages of other origins are refused.
    """

    def __init__(self, words: Sequence[str], port: int) -> None:
        command = shlex.join(words)
        super().__init__(command, HOST, port, "pie top")  # pyright: ignore[reportUnknownMemberType]
        self._token = secrets.token_urlsafe(32)
        self._cookie = f"pie-monitor-{port}"

    @property
    def address(self) -> str:
        """The page, with the token."""
        return f"{self.public_url}/?{PARAMETER}={self._token}"

    async def application(self) -> web.Application:
        """The routes of textual-serve behind the checks."""
        app = await self._make_app()
        app.middlewares.append(self._checked())
        return app

    async def on_startup(self, app: web.Application) -> None:
        print(f"monitor at {self.address}\nwho has this address can steer the engine; Ctrl-C ends it", flush=True)

    def _checked(self) -> Middleware:
        @web.middleware
        async def checked(request: web.Request, handler: Handler) -> web.StreamResponse:
            given = request.query.get(PARAMETER)
            refusal = self._refusal(request, given)
            if refusal is not None:
                return refusal
            if given is None:
                return await handler(request)
            answer = web.HTTPSeeOther(request.path)  # the token leaves the address bar and the history
            answer.set_cookie(self._cookie, self._token, httponly=True, samesite="Strict", path="/")
            answer.headers["Referrer-Policy"] = "no-referrer"
            return answer

        return checked

    def _refusal(self, request: web.Request, given: str | None) -> web.Response | None:
        host = check_host(request.headers.get("Host"), HOST)
        if host is not None:
            return web.Response(status=403, text="the Host header names another machine: use 127.0.0.1\n")
        origin = request.headers.get("Origin")
        if origin is not None and origin != f"http://{request.headers.get('Host')}":
            return web.Response(status=403, text="pages of another origin may not use the monitor\n")
        known = request.cookies.get(self._cookie, "") if given is None else given
        if hmac.compare_digest(known.encode(errors="replace"), self._token.encode()):
            return None
        return web.Response(status=401, text="open the address that 'pie top --web' printed, with its token\n")


def serve(words: Sequence[str], port: int) -> None:
    """Serve the arguments `words` of pie until Ctrl-C, on `port` or any free one. Raises OSError when it is taken."""
    asyncio.set_event_loop(asyncio.new_event_loop())
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen()  # before the address is printed
        server = MonitorServer([sys.executable, "-m", "pie_mlx", *words], listening.getsockname()[1])
        web.run_app(server.application(), sock=listening, print=None)
