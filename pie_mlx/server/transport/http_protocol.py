"""HTTP/1.1 on a connection, for no longer than the other end keeps up its part."""

import asyncio
import contextlib
import logging
import socket
import time
from typing import Any, cast

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from pie_mlx.server.transport.connection_limit import ConnectionLimit
from pie_mlx.server.transport.peers import is_own_peer, is_unix
from pie_mlx.server.transport.refusals import refused

HEALTH_PATH = "/health"
"""Answered also where there is no place for others."""
HEAD_SECONDS = 10.0
"""How long after the connection, or after the last answer, the head of a request may take in all."""
SILENT_SECONDS, SLOW_HEAD_SECONDS = 1.0, 3.0
"""How long nothing, and nothing whole, has to come before a connection makes room for others."""
UNREAD_SECONDS = 30.0
"""How long the other end may read nothing of an answer."""
CLOSING_SECONDS = 5.0
"""How long what is written may take to get out once the connection is to end."""
FIRST_PIECE_BYTES, SHORTEST_PIECE_BYTES, LONGEST_PIECE_BYTES = 4 << 10, 1 << 10, 64 << 10
"""What is read of a connection in one turn of the loop: less where it is much to do, as with chunks of a byte."""
MUCH_SECONDS = 0.001
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
    """A `LimitedConnection`. Whoever connects by a Unix socket must be this user.

    An answer that is not completed closes the connection; whoever broke it off has told why.
    """

    _buffer = memoryview(bytearray(LONGEST_PIECE_BYTES))
    """Of all connections: what is read is copied before the next one reads."""

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
            # asyncio does it where an accepted socket tells its protocol, which it does not on macOS.
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
        if self not in self.connections:  # it is a websocket from now on
            self._limit.leave(self)
        elif cast("object", self.cycle) is not before:
            self._waiting_since = None

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
            app = refused(503, "too many connections: try again later")
        await app(scope, receive, send)


def _is_past(since: float | None, seconds: float, now: float) -> bool:
    return since is not None and now - since >= seconds
