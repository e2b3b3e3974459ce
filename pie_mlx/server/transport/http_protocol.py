"""HTTP/1.1 on a connection, with timeouts for a slow or silent client."""

import asyncio
import contextlib
import logging
import re
import socket
import time
import uuid
from typing import Any, cast

import h11
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from pie_mlx.server.transport.connection_limit import SILENT_SECONDS, ConnectionLimit
from pie_mlx.server.transport.peers import is_own_peer, is_unix
from pie_mlx.server.transport.refusals import refused

HEALTH_PATH = "/health"
"""Answered even when no place is left."""
HEAD_SECONDS = 10.0
"""Timeout for the complete head of a request, after the connection or the last answer."""
SLOW_HEAD_SECONDS = 3.0
"""Without a complete head for this long, a connection may be closed to make room."""
UNREAD_SECONDS = 30.0
"""How long the client may not read an answer."""
CLOSING_SECONDS = 5.0
"""How long the remaining bytes may take once the connection is closing."""
FIRST_PIECE_BYTES, SHORTEST_PIECE_BYTES, LONGEST_PIECE_BYTES = 4 << 10, 1 << 10, 64 << 10
"""Bytes read per turn of the loop: fewer if they are expensive, such as one-byte chunks."""
MUCH_SECONDS = 0.001
REQUEST_ID = b"x-request-id"
_BAD_REQUEST = (
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n"
    b"x-request-id: %b\r\ncontent-length: %d\r\n\r\n%b"
)
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")
_FAULTS_OF_CLIENTS = {
    "ASGI callable returned without completing response.",
    "Invalid HTTP request received.",
    "Unsupported upgrade request.",
}


def _is_news(record: logging.LogRecord) -> bool:
    return record.msg not in _FAULTS_OF_CLIENTS


_log = logging.getLogger(__name__)
_log.addFilter(_is_news)


class HttpProtocol(H11Protocol, asyncio.BufferedProtocol):
    """A `LimitedConnection`. Clients of the Unix socket must run as this user, or as root.

    An incomplete answer closes the connection; its error has been logged.
    """

    _buffer = memoryview(bytearray(LONGEST_PIECE_BYTES))
    """Shared by all connections: bytes are copied before the next one reads."""

    def __init__(self, room: ConnectionLimit, **options: Any) -> None:
        super().__init__(**options)
        self.logger = _log
        self._limit = room
        self._piece_bytes = FIRST_PIECE_BYTES
        self._heard_at = 0.0
        self._waiting_since: float | None = None
        self._unread_since: float | None = None
        self._closing_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        connection = cast("socket.socket", transport.get_extra_info("socket"))
        self._waiting_since = time.monotonic()
        address = ""
        if is_unix(connection):
            if not is_own_peer(connection):
                transport.abort()
        else:
            address = str(transport.get_extra_info("peername")[0])
            # asyncio does this itself, except on macOS, where an accepted socket does not report its protocol.
            with contextlib.suppress(OSError):
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not self._limit.enter(self, address):
            self.app = self._crowded

    def connection_lost(self, exc: Exception | None) -> None:
        self._limit.leave(self)
        super().connection_lost(exc)

    def get_buffer(self, sizehint: int) -> memoryview:
        del sizehint
        return self._buffer[: self._piece_bytes]

    def buffer_updated(self, nbytes: int) -> None:
        self._heard_at = time.monotonic()
        begun = time.thread_time()
        self.data_received(bytes(self._buffer[:nbytes]))
        if time.thread_time() - begun > MUCH_SECONDS:
            self._piece_bytes = SHORTEST_PIECE_BYTES
        else:
            self._piece_bytes = min(self._piece_bytes * 2, LONGEST_PIECE_BYTES)

    def handle_events(self) -> None:
        before = cast("object", self.cycle)
        super().handle_events()
        if self not in self.connections:  # it has become a websocket
            self._limit.leave(self)
        elif cast("object", self.cycle) is not before:
            self._waiting_since = None
            self._number_request()

    def _number_request(self) -> None:
        """Give the request an id, unless its client did. The program sees it, and every answer tells it.

        Among the default headers it costs nothing per piece of an answer.
        """
        given = dict(self.headers).get(REQUEST_ID, b"")
        number = given if _REQUEST_ID.fullmatch(given) else _new_id()
        self.headers[:] = [field for field in self.headers if field[0] != REQUEST_ID] + [(REQUEST_ID, number)]
        self.cycle.default_headers = [*self.cycle.default_headers, (REQUEST_ID, number)]

    def send_400_response(self, msg: str) -> None:
        """In one write: who sends what is no HTTP may send much of it. Closes only, if an answer has begun."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(_BAD_REQUEST % (_new_id(), len(msg), msg.encode()))
        self.transport.close()

    def on_response_complete(self) -> None:
        self._waiting_since = time.monotonic()
        super().on_response_complete()

    def pause_writing(self) -> None:
        self._unread_since = time.monotonic()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._unread_since = None
        super().resume_writing()

    def is_overdue(self, now: float) -> bool:
        """See `LimitedConnection`."""
        if self._closing_since is None and self.transport.is_closing():
            self._closing_since = now
        return (
            _is_past(self._closing_since, CLOSING_SECONDS, now)
            or _is_past(self._unread_since, UNREAD_SECONDS, now)
            or _is_past(self._waiting_since, HEAD_SECONDS, now)
        )

    def is_silent(self, now: float) -> bool:
        """See `LimitedConnection`."""
        return _is_past(self._waiting_since, SLOW_HEAD_SECONDS, now) or (
            _is_past(self._waiting_since, SILENT_SECONDS, now) and _is_past(self._heard_at, SILENT_SECONDS, now)
        )

    def hang_up(self) -> None:
        """See `LimitedConnection`."""
        self.transport.abort()

    async def _crowded(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = cast("Any", self.config).loaded_app
        if not self._limit.place(self) and scope["path"] != HEALTH_PATH:
            app = refused(503, "too many connections: try again later", scope["path"])
        await app(scope, receive, send)


def _new_id() -> bytes:
    return b"req_" + uuid.uuid4().hex.encode()


def _is_past(since: float | None, seconds: float, now: float) -> bool:
    return since is not None and now - since >= seconds
