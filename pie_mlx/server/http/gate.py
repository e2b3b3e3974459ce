"""What every HTTP request passes first: foreign pages, rebound names and requests without a token are refused."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pie_mlx.server.access.request_checks import check_host, check_page
from pie_mlx.server.access.web_pages import allowing_origin, preflight_answer
from pie_mlx.server.settings import ServerSettings
from pie_mlx.server.transport.refusals import Refusal


@dataclass(frozen=True, slots=True)
class Gate:
    """An ASGI app in front of `app`, which listens on `host`.

    `check_token` refuses requests without a token, `answer` gives a refusal its form. The browser sends no token with a
    preflight: it is answered here, and an allowed page can read refusals as well.
    """

    app: ASGIApp
    settings: ServerSettings
    host: str
    check_token: Callable[[Scope, Headers], Refusal | None]
    answer: Callable[[Scope, Refusal], Response]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        refusal = check_page(scope["method"], headers.get, self.settings.origins)
        if refusal is None and (origin := headers.get("origin")) is not None:
            send = allowing_origin(send, origin)
        if refusal is None and scope.get("client") is not None:  # not the Unix socket
            refusal = check_host(headers.get("host"), self.host, self.settings.host_names)
        preflight = None if refusal else preflight_answer(scope["method"], headers.get)
        if preflight is not None:
            await Response(status_code=204, headers=dict(preflight))(scope, receive, send)
            return
        refusal = refusal or self.check_token(scope, headers)
        app = self.app if refusal is None else self.answer(scope, refusal)
        await app(scope, receive, send)
