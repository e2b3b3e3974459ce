"""The head of a request to a proxy (RFC 9112): its destination, and the head to forward."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pie_mlx.runtime.network.rejection import Rejection

_LINE = re.compile(r"([A-Za-z]+) ([!-~]+) HTTP/1\.[01]")
_FIELD = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\0\r\n]*)")
_AUTHORITY = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::(?P<port>\d{1,5}))?")
_ABSOLUTE = re.compile(r"(?i:http)://(?P<authority>[^/?#]+)(?P<rest>[^#]*)")
_HTTP_PORT = 80
SUMMARY_CHARACTERS = 256
_OF_ONE_HOP = frozenset(
    ("connection", "keep-alive", "proxy-connection", "proxy-authorization", "proxy-authenticate", "upgrade")
)

Fields = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class RequestHead:
    """`forward` is the head to send to the host, None for a tunnel.

    `authorization` is the client's value of Proxy-Authorization, "" for none; `summary` method and path without the
    query, "" for a tunnel.
    """

    host: str
    port: int
    forward: bytes | None
    authorization: str = ""
    summary: str = ""


def parse_request(data: bytes) -> RequestHead | Rejection:
    """`data` ends with the empty line."""
    first, *lines = data.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    line, fields = _LINE.fullmatch(first), parse_fields(lines)
    if line is None or fields is None:
        return Rejection(400, "the request is malformed")
    method, target = line.groups()
    authorization = next((value for name, value in fields if name.lower() == "proxy-authorization"), "")
    if method == "CONNECT":
        return _tunnel(target, authorization)
    return _absolute(method, target, fields, authorization)


def parse_fields(lines: Iterable[str]) -> Fields | None:
    """The fields of a head, None if a line is malformed."""
    matches = [_FIELD.fullmatch(line) for line in lines]
    fields = [(match[1], match[2].rstrip(" \t")) for match in matches if match is not None]
    return fields if len(fields) == len(matches) else None


def end_to_end(fields: Fields) -> Fields:
    """The fields meant for the other end, not for the proxy."""
    listed = {
        word.strip().lower() for name, value in fields if name.lower() == "connection" for word in value.split(",")
    }
    return [(name, value) for name, value in fields if name.lower() not in listed | _OF_ONE_HOP]


def encode_head(first: str, fields: Fields) -> bytes:
    """A head with `Connection: close`: each connection carries one request to one host."""
    lines = [first, *(f"{name}: {value}" for name, value in fields), "Connection: close"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _tunnel(target: str, authorization: str) -> RequestHead | Rejection:
    found = _authority(target, None)
    return found if isinstance(found, Rejection) else RequestHead(*found, None, authorization)


def _absolute(method: str, target: str, fields: Fields, authorization: str) -> RequestHead | Rejection:
    match = _ABSOLUTE.fullmatch(target)
    if match is None:
        return Rejection(400, "this is a proxy: ask for http://HOST/..., or for a tunnel (CONNECT HOST:PORT)")
    found = _authority(match["authority"], _HTTP_PORT)
    if isinstance(found, Rejection):
        return found
    rest = match["rest"]
    origin = rest if rest.startswith("/") else f"/{rest}"
    # The Host of the request line counts: the field could name another.
    sent = [("Host", match["authority"]), *(one for one in end_to_end(fields) if one[0].lower() != "host")]
    head = encode_head(f"{method} {origin} HTTP/1.1", sent)
    return RequestHead(*found, head, authorization, f"{method} {origin.partition('?')[0]}"[:SUMMARY_CHARACTERS])


def _authority(text: str, default_port: int | None) -> tuple[str, int] | Rejection:
    match = _AUTHORITY.fullmatch(text)
    port = int(match["port"]) if match and match["port"] else default_port
    if match is None or port is None or not 1 <= port <= 65535:
        return Rejection(400, f"{text!r} is not HOST:PORT")
    return match["six"] or match["name"], port
