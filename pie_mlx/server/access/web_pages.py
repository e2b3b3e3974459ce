"""What browsers need to let the page of an allowed origin use the engine (CORS)."""

from collections.abc import Callable
from typing import Any

from starlette.types import Send

Header = tuple[bytes, bytes]

METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
PREFLIGHT_SECONDS = 600
"""How long a browser may remember the answer to a preflight."""


def preflight_answer(method: str, field: Callable[[str], str | None]) -> list[tuple[str, str]] | None:
    """The headers that allow what a preflight asks for; None for any other request.

    For origins that are allowed already. The requested headers are allowed by name: `*` would not cover
    `Authorization`. A page of a public site asks for the private network as well.
    """
    if method != "OPTIONS" or field("origin") is None or field("access-control-request-method") is None:
        return None
    allowed = [
        ("access-control-allow-methods", METHODS),
        ("access-control-allow-headers", field("access-control-request-headers") or "*"),
        ("access-control-max-age", str(PREFLIGHT_SECONDS)),
    ]
    if field("access-control-request-private-network") == "true":
        allowed.append(("access-control-allow-private-network", "true"))
    return allowed


def allowing_origin(send: Send, origin: str) -> Send:
    """Add the headers that let a page of `origin` read the answer, unless the answer has its own."""

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": _with_origin(list(message.get("headers", ())), origin)}
        await send(message)

    return sending


def _with_origin(headers: list[Header], origin: str) -> list[Header]:
    if any(name.lower() == b"access-control-allow-origin" for name, _ in headers):
        return headers
    allowed = (b"access-control-allow-origin", origin.encode("latin-1"))
    return [*headers, allowed, (b"access-control-expose-headers", b"*"), (b"vary", b"Origin")]
