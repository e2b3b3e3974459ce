"""Checks before a request is handled: foreign web pages, rebound host names, tokens."""

from collections.abc import Callable, Collection

from pie_mlx.server.transport.refusals import Refusal

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    return host in LOOPBACK_NAMES or host.startswith("127.")


def check_page(method: str, field: Callable[[str], str | None], allowed: Collection[str]) -> Refusal | None:
    """Refuse requests of foreign web pages. `field` returns a header; only browsers send the ones checked here.

    Pages at other ports of this machine are foreign, though browsers count them as the same site. Following a link is
    allowed: it changes nothing, and the page does not see the answer.
    """
    origin = field("origin")
    if origin is not None:
        if origin in allowed:
            return None
        return Refusal(403, f"origin {origin[:200]} may not connect: add it to [server] allowed_origins\n")
    follows_link = method in ("GET", "HEAD") and field("sec-fetch-mode") == "navigate"
    if field("sec-fetch-site") in (None, "same-origin", "none") or follows_link:
        return None
    return Refusal(403, "a page of another site may not ask for this: add its origin to [server] allowed_origins\n")


TOKEN_HEADERS = ("authorization", "x-api-key")
"""Where clients send a token: those of Anthropic's interface send it in a header of its own."""


def check_token(field: Callable[[str], str | None], is_token: Callable[[str], bool], name: str) -> Refusal | None:
    """Refuse HTTP requests without a valid token; `field` returns a header, `name` describes the token."""
    kind, _, token = (field("authorization") or "").partition(" ")
    key = token if kind.lower() == "bearer" else field("x-api-key")
    if key and is_token(key):
        return None
    return Refusal(401, f"authentication is on: send 'Authorization: Bearer TOKEN' with {name}\n")


def check_host(host_header: str | None, bound_host: str) -> Refusal | None:
    """Refuse a foreign name rebound to the loopback address. Ignores the port, which tunnels change."""
    if not is_loopback(bound_host):
        return None
    name = host_name(host_header or "")
    if name in LOOPBACK_NAMES or name == bound_host:
        return None
    return Refusal(403, "the Host header names another machine: use localhost or 127.0.0.1\n")


def host_name(header: str) -> str:
    """The host of `[::1]:80` or `localhost:80`, without port and brackets."""
    if header.startswith("["):
        name, _, rest = header[1:].lower().partition("]")
        return name if not rest or rest.startswith(":") else ""
    return header.partition(":")[0].lower()
