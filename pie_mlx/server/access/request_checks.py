"""What is refused before anybody looks at it: foreign web pages, rebound names."""

from collections.abc import Callable, Collection

from pie_mlx.server.transport.refusals import Refusal

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    return host in LOOPBACK_NAMES or host.startswith("127.")


def check_page(method: str, field: Callable[[str], str | None], allowed: Collection[str]) -> Refusal | None:
    """Refuses what a foreign web page asks for. `field` answers a header; only browsers send those looked at here.

    Another port of this machine is another page: for browsers it is of the same site. To follow a link is no request
    of a page: it changes nothing, and the page does not see the answer.
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


def check_token(authorization: str | None, is_token: Callable[[str], bool], name: str) -> Refusal | None:
    """Whether a request of HTTP presents a token; `name` says which is wanted."""
    kind, _, token = (authorization or "").partition(" ")
    if kind.lower() == "bearer" and is_token(token):
        return None
    return Refusal(401, f"authentication is on: send 'Authorization: Bearer TOKEN' with {name}\n")


def check_host(host_header: str | None, bound_host: str) -> Refusal | None:
    """A name that was rebound to the loopback address is not one of ours (8.2). Any port will do, tunnels change it."""
    if not is_loopback(bound_host):
        return None
    name = host_name(host_header or "")
    if name in LOOPBACK_NAMES or name == bound_host:
        return None
    return Refusal(403, "the Host header names another machine: use localhost or 127.0.0.1\n")


def host_name(header: str) -> str:
    """`[::1]:80` and `localhost:80` without port and brackets."""
    if header.startswith("["):
        name, _, rest = header[1:].lower().partition("]")
        return name if not rest or rest.startswith(":") else ""
    return header.partition(":")[0].lower()
