"""Checks before a request is handled: foreign web pages, rebound host names, tokens."""

from collections.abc import Callable, Collection

from pie_mlx.server.transport.refusals import Refusal

TOKEN_HEADERS = frozenset({b"authorization", b"x-api-key"})
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


def check_token(field: Callable[[str], str | None], is_token: Callable[[str], bool], name: str) -> Refusal | None:
    """Refuse HTTP requests without a valid token; `field` returns a header, `name` describes the token."""
    kind, _, bearer = (field("authorization") or "").partition(" ")
    if (kind.lower() == "bearer" and is_token(bearer)) or is_token(field("x-api-key") or ""):
        return None
    return Refusal(401, f"authentication is on: send 'Authorization: Bearer TOKEN' with {name}\n")


def check_host(host_header: str | None, bound_host: str, allowed: Collection[str] = ()) -> Refusal | None:
    """Refuse a foreign name rebound to the loopback address, unless `allowed`. Ignores the port: tunnels change it."""
    if not is_loopback(bound_host):
        return None
    name = host_name(host_header or "")
    if name in LOOPBACK_NAMES or name == bound_host or (name and name in allowed):
        return None
    advice = "use localhost or 127.0.0.1, or add the name to [server] allowed_hosts"
    return Refusal(403, f"the Host header names another machine: {advice}\n")


def host_name(header: str) -> str:
    """The host of `[::1]:80` or `localhost:80`, without port and brackets."""
    if header.startswith("["):
        name, _, rest = header[1:].lower().partition("]")
        return name if not rest or rest.startswith(":") else ""
    return header.partition(":")[0].lower()
