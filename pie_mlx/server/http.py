"""HTTP on the port of the websocket."""

import asyncio
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

import pie_mlx
from pie_mlx.runtime.semver import Version
from pie_mlx.server.gate import Refusal, check_host, check_origin
from pie_mlx.server.metrics import CONTENT_TYPE, metrics_text
from pie_mlx.server.openai import openai_app
from pie_mlx.server.service import Service

HEALTH_PATH = "/health"


def http_app(service: Service) -> ASGIApp:
    """Everything but the websocket, behind the checks of origin, host and token."""

    async def health(request: Request) -> Response:
        del request
        return JSONResponse({"status": "ok", "version": pie_mlx.__version__, "model": service.model})

    async def metrics(request: Request) -> Response:
        del request
        service.board.pages = await service.engine.page_usage()
        return Response(metrics_text(service), headers={"content-type": CONTENT_TYPE})

    async def versions(request: Request) -> Response:
        name = request.path_params["name"]
        found = [Version.parse(record.version) for record in await _listing(service) if record.name == name]
        if not found:
            return PlainTextResponse(f"program '{name}' is not installed\n", 404)
        return JSONResponse({"name": name, "versions": [{"num": str(number)} for number in _newest_first(found)]})

    async def upgrade(request: Request) -> Response:
        del request
        help = "this is the websocket of a pie engine: use 'pie', pie_mlx.client or pie-client\n"
        return PlainTextResponse(help, 426, headers={"upgrade": "websocket"})

    routes = [
        Route("/", upgrade),
        Route(HEALTH_PATH, health),
        Route("/metrics", metrics),
        Route("/api/v1/inferlets/{name}", versions),
        Route("/v1/{rest:path}", openai_app(service)),
    ]
    return Guard(Starlette(routes=routes), service)


class Guard:
    """Refuses foreign pages, rebound names and, with authentication on, whoever has no token."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await PlainTextResponse(refusal.text, refusal.status)(scope, receive, send)
            return
        await self._app(scope, receive, _allowing(send, headers.get("origin")))

    def _refusal(self, scope: Scope, headers: Headers) -> Refusal | None:
        settings = self._service.settings
        is_local = scope.get("client") is None
        refusal = check_origin(headers.get("origin"), settings.origins)
        if refusal is None and not is_local:
            refusal = check_host(headers.get("host"), settings.host)
        if refusal is None and settings.authentication and not is_local and scope["path"] != HEALTH_PATH:
            refusal = self._check_token(headers)
        return refusal

    def _check_token(self, headers: Headers) -> Refusal | None:
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self._service.doorkeeper.is_token(token):
            return None
        return Refusal(401, "authentication is on: send 'Authorization: Bearer TOKEN' with the internal token\n")


def _allowing(send: Send, origin: str | None) -> Send:
    """Adds the header that lets an allowed page read the answer; others get none."""
    if origin is None:
        return send

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            allowed = [(b"access-control-allow-origin", origin.encode("latin-1")), (b"vary", b"Origin")]
            message = {**message, "headers": [*message.get("headers", ()), *allowed]}
        await send(message)

    return sending


async def _listing(service: Service) -> list[Any]:
    return list(await asyncio.to_thread(service.programs.listing))


def _newest_first(versions: list[Version]) -> list[Version]:
    """Releases before all pre-releases: the first one is what a bare name means."""
    return sorted(versions, key=lambda version: (not version.prerelease, version), reverse=True)
