"""The HTTP app on the port of the websocket."""

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

import pie_mlx
from pie_mlx.engine.inspection import pool_status, tick_failure
from pie_mlx.errors import EngineStoppedError
from pie_mlx.runtime.program.semver import Version
from pie_mlx.server.access.request_checks import check_token
from pie_mlx.server.http.gate import Gate
from pie_mlx.server.http.metrics import CONTENT_TYPE, metrics_text
from pie_mlx.server.http.openai import openai_app
from pie_mlx.server.service import Service
from pie_mlx.server.transport.http_protocol import HEALTH_PATH
from pie_mlx.server.transport.refusals import Refusal, refused
from pie_mlx.server.watching.request_metrics import ServedRequest

OPENAI_PATH, OLLAMA_PATH, OWN_PATH = "/v1/", "/api/", "/api/v1/"
ANSWER_SECONDS = 5.0
"""An engine that does not answer for this long counts as failed."""


def http_app(service: Service) -> ASGIApp:
    """All HTTP routes, behind the checks of origin, host and token."""

    async def health(request: Request) -> Response:
        del request
        failure = await _failure(service)
        facts = {"status": "failed" if failure else "ok", "version": pie_mlx.__version__, "model": service.model}
        return JSONResponse({**facts, "reason": failure}, 503) if failure else JSONResponse(facts)

    async def metrics(request: Request) -> Response:
        del request
        service.totals.pages = await service.engine.page_usage()
        pools = await service.engine.consult_all(pool_status)
        return Response(metrics_text(service, pools), headers={"content-type": CONTENT_TYPE})

    async def versions(request: Request) -> Response:
        name = request.path_params["name"]
        owners = {
            Version.parse(record.version): record.owner for record in await _listing(service) if record.name == name
        }
        if not owners:
            return PlainTextResponse(f"program '{name}' is not installed\n", 404)
        versions = [{"num": str(number), "owner": owners[number]} for number in _newest_first(owners)]
        return JSONResponse({"name": name, "versions": versions})

    async def running(request: Request) -> Response:
        """Ollama's clients ask whether anything runs here, some for these words."""
        del request
        help = "Ollama is running here as one interface of a pie engine, at /api"
        others = "OpenAI's is at /v1, Anthropic's at /v1/messages, and programs use the websocket"
        return PlainTextResponse(f"{help}; {others}\n")

    async def nothing(request: Request, error: Exception) -> Response:
        del request, error
        help = "not found: an OpenAI client's base_url ends in /v1, those of Anthropic and Ollama end before it\n"
        return PlainTextResponse(help, 404)

    routes = [
        Route("/", running),
        Route(HEALTH_PATH, health),
        Route("/metrics", metrics),
        Route("/api/v1/inferlets/{name}", versions),
    ]

    def check(scope: Scope, headers: Headers) -> Refusal | None:
        is_open = not service.settings.authentication or scope.get("client") is None or scope["path"] == HEALTH_PATH
        is_token = service.authenticator.is_token
        return None if is_open else check_token(headers.get, is_token, "the engine's internal token")

    app = _Routes(Starlette(routes=routes, exception_handlers={404: nothing}), openai_app(service))
    return Gate(app, service.settings, service.settings.host, check, partial(_answer, service))


class _Routes:
    """Requests to models go directly to `openai`, to save the layers of `app` for every piece of a stream."""

    def __init__(self, app: ASGIApp, openai: ASGIApp) -> None:
        self._app = app
        self._openai = openai

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._openai if _is_for_models(scope["path"]) else self._app)(scope, receive, send)


def _is_for_models(path: str) -> bool:
    """Whether a request is one of OpenAI's, Anthropic's or Ollama's interface."""
    return path.startswith((OPENAI_PATH, OLLAMA_PATH)) and not path.startswith(OWN_PATH)


def _answer(service: Service, scope: Scope, refusal: Refusal) -> Response:
    """The refusal in the form the client expects."""
    if _is_for_models(scope["path"]):
        service.requests.finish(ServedRequest(scope["path"], refusal.status))
        return refused(refusal.status, refusal.text.strip(), scope["path"])
    return PlainTextResponse(refusal.text, refusal.status)


async def _failure(service: Service) -> str:
    """Why the engine has failed, "" if it works."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return next(filter(None, await service.engine.consult_all(tick_failure)), "")
    except TimeoutError:
        return f"the engine has not answered for {ANSWER_SECONDS:g} s"
    except EngineStoppedError as error:
        return error.message


async def _listing(service: Service) -> list[Any]:
    return list(await asyncio.to_thread(service.programs.listing))


def _newest_first(versions: Iterable[Version]) -> list[Version]:
    """Releases before pre-releases, newest first: the first is what a bare name means."""
    return sorted(versions, key=lambda version: (not version.prerelease, version), reverse=True)
