"""One websocket connection (RFC 6455): bytes in, frames out. Knows nothing about their contents."""

import asyncio
import os
import socket
from collections.abc import Callable
from math import ceil
from typing import Any, Protocol, cast

from websockets.datastructures import Headers
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

from pie_mlx.server.transport.refusals import Refusal

UNAUTHENTICATED_FRAME_BYTES = 64 << 10
PING_SECONDS, PONG_LIMIT_SECONDS = 20.0, 60.0
CLOSE_SECONDS = 5.0
"""Timeout for the answer to a close frame."""
TURN_SECONDS = 0.005
"""Parsing time per connection before others get their turn."""
PIECE_BYTES = 4 << 10
"""Bytes parsed between two checks of the clock."""
FRAGMENTS = 65_536
"""Maximum fragments of a message."""
CONTROL_FRAMES, CONTROL_SECONDS = 64, 10.0
"""Maximum pings and unsolicited pongs within that time."""
LONGEST_WAIT_SECONDS = 1.0
"""For a handshake; who would wait longer is refused."""
PINGS = 1024
"""Unanswered pings that are remembered."""
_ENGINE_STOPS, _NOT_BINARY, _TOO_MANY = 1001, 1003, 1008


class Receiver(Protocol):
    """The owner of a connection. Called on the loop; must not block.

    `received` may pause reading. `closed` is called once, whichever side closed.
    """

    def received(self, frame: bytes) -> None: ...

    def next_frame(self) -> bytes | None: ...

    def writable(self) -> None:
        """The client reads again, and the buffer is flushed."""

    def closed(self) -> None: ...


class WebsocketEndpoint(Protocol):
    """Admits connections at the handshake, or refuses them."""

    def wait_seconds(self, connection: socket.socket) -> float:
        """How long the handshake of another connection waits. Asked once."""
        ...

    def refuses(self, path: str, headers: Headers, connection: socket.socket) -> Refusal | None: ...

    def enter(self, wire: "Websocket", connection: socket.socket) -> Receiver: ...


class Websocket(asyncio.Protocol):
    """Made by uvicorn when a request asks for a websocket; `endpoint` accepts or refuses it."""

    def __init__(self, endpoint: WebsocketEndpoint, server_state: Any) -> None:
        self._endpoint = endpoint
        self._connections: set[Any] = server_state.connections
        self._protocol = ServerProtocol(max_size=UNAUTHENTICATED_FRAME_BYTES)
        self._transport: asyncio.Transport
        self._receiver: Receiver | None = None
        self._loop = asyncio.get_running_loop()
        self._unparsed = bytearray()
        self._parsing: asyncio.Handle | None = None
        self._arriving: asyncio.TimerHandle | None = None
        """Until its handshake."""
        self._receiver_waits = False
        self._unwritable_since: float | None = None
        self._message = bytearray()
        self._fragments = 0
        self._controls, self._controls_until = 0, 0.0
        self._pongs: dict[bytes, Callable[[], None]] = {}
        self._heard_seconds = self._loop.time()
        self._pinging: asyncio.TimerHandle | None = None
        self._ending: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        for timer in (self._parsing, self._arriving, self._pinging, self._ending):
            if timer is not None:
                timer.cancel()
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.closed()

    def data_received(self, data: bytes) -> None:
        self._heard_seconds = self._loop.time()
        self._unparsed += data
        self._parse()

    def eof_received(self) -> None:
        self._protocol.receive_eof()

    def pause_writing(self) -> None:
        """Stop reading too: requests cause answers, which would pile up."""
        self._unwritable_since = self._loop.time()
        self._adjust_reading()

    def resume_writing(self) -> None:
        self._unwritable_since = None
        self.flush()
        if self._receiver is not None:
            self._receiver.writable()
        self._adjust_reading()

    def shutdown(self) -> None:
        """The engine stops."""
        self.close(_ENGINE_STOPS, "the engine stops")

    @property
    def is_open(self) -> bool:
        return self._receiver is not None and self._protocol.state is State.OPEN

    def allow_frames_of(self, size_bytes: int) -> None:
        """Set the longest accepted message."""
        self._protocol.max_message_size = size_bytes

    def pause_reading(self) -> None:
        self._receiver_waits = True
        self._adjust_reading()

    def resume_reading(self) -> None:
        self._receiver_waits = False
        self._adjust_reading()

    def flush(self) -> None:
        """Write the receiver's frames while the other end reads."""
        while self._is_writable and self._receiver is not None and self._protocol.state is State.OPEN:
            frame = self._receiver.next_frame()
            if frame is None:
                return
            self._protocol.send_binary(frame)
            self._write_control()

    def ping(self, answered: Callable[[], None]) -> None:
        """Send a ping; `answered` is called on its pong."""
        if self._protocol.state is State.OPEN:
            token = os.urandom(8)
            self._pongs[token] = answered
            if len(self._pongs) > PINGS:
                del self._pongs[next(iter(self._pongs))]
            self._protocol.send_ping(token)
            self._write_control()

    def close(self, code: int, reason: str) -> None:
        """Begin to close. Idempotent."""
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(code, _short(reason))
            self._write_control()
            self._adjust_reading()
            self._ending = self._loop.call_later(CLOSE_SECONDS, self._transport.abort)
        elif self._protocol.state is State.CONNECTING:
            self._transport.close()

    def abort(self) -> None:
        """Close the connection without a handshake."""
        self._transport.abort()

    @property
    def _is_writable(self) -> bool:
        return self._unwritable_since is None

    @property
    def _may_read(self) -> bool:
        """Whether to read. While closing, always, to get the close frame of the other end."""
        waits = self._arriving is not None or (self._receiver_waits and self._protocol.state is State.OPEN)
        return self._is_writable and not waits

    def _parse(self) -> None:
        self._parsing = None
        until_seconds = self._loop.time() + TURN_SECONDS
        while self._unparsed and self._may_read:
            piece = bytes(self._unparsed[:PIECE_BYTES])
            del self._unparsed[:PIECE_BYTES]
            self._protocol.receive_data(piece)
            for event in self._protocol.events_received():
                if isinstance(event, Request):
                    self._await_turn(event)
                else:
                    self._dispatch(event)
            self._write_control()
            if self._loop.time() > until_seconds:
                break
        self._adjust_reading()

    def _adjust_reading(self) -> None:
        """Read from the socket once everything received is parsed and nothing is paused."""
        if self._transport.is_closing():
            return
        if self._unparsed and self._may_read and self._parsing is None:
            self._parsing = self._loop.call_soon(self._parse)
        wanted = self._may_read and not self._unparsed
        if wanted and not self._transport.is_reading():
            self._heard_seconds = self._loop.time()
            self._transport.resume_reading()
        elif not wanted and self._transport.is_reading():
            self._transport.pause_reading()

    @property
    def _connection(self) -> socket.socket:
        return cast("socket.socket", self._transport.get_extra_info("socket"))

    def _await_turn(self, request: Request) -> None:
        seconds = self._endpoint.wait_seconds(self._connection)
        if seconds > LONGEST_WAIT_SECONDS:
            self._refuse(Refusal(503, "too many new connections: try again later\n", ceil(seconds)))
        elif seconds:
            self._arriving = self._loop.call_later(seconds, self._arrive, request)
        else:
            self._handshake(request)

    def _arrive(self, request: Request) -> None:
        self._arriving = None
        self._handshake(request)
        self._adjust_reading()

    def _handshake(self, request: Request) -> None:
        connection = self._connection
        path = request.path.partition("?")[0]
        refusal = self._endpoint.refuses(path, request.headers, connection)
        if refusal is not None:
            self._refuse(refusal)
            return
        self._protocol.send_response(self._protocol.accept(request))
        if self._protocol.state is State.OPEN:
            self._receiver = self._endpoint.enter(self, connection)
            self._pinging = self._loop.call_later(PING_SECONDS, self._keep_alive)
        self._write_control()

    def _refuse(self, refusal: Refusal) -> None:
        response = self._protocol.reject(refusal.status, refusal.text)
        if refusal.retry_seconds:
            response.headers["Retry-After"] = str(refusal.retry_seconds)
        self._protocol.send_response(response)
        self._write_control()

    def _dispatch(self, event: Any) -> None:
        frame = cast("Frame", event)
        match frame.opcode:
            case Opcode.PONG if (token := bytes(frame.data)) in self._pongs:
                self._pongs.pop(token)()
            case Opcode.PING | Opcode.PONG:
                self._count_control()
            case Opcode.TEXT:
                self.close(_NOT_BINARY, "text frames are not supported: send msgpack in binary frames")
            case Opcode.BINARY | Opcode.CONT:
                self._gather(bytes(frame.data), frame.fin)
            case _:
                pass

    def _gather(self, data: bytes, is_last: bool) -> None:
        if self._fragments or not is_last:
            self._fragments += 1
            self._message += data
            if self._fragments > FRAGMENTS:
                self._cut_off(f"a message has at most {FRAGMENTS} fragments")
            if not is_last:
                return
            data, self._message, self._fragments = bytes(self._message), bytearray(), 0
        if self._receiver is not None and self._protocol.state is State.OPEN:
            self._receiver.received(data)

    def _count_control(self) -> None:
        now = self._loop.time()
        if now >= self._controls_until:
            self._controls, self._controls_until = 0, now + CONTROL_SECONDS
        self._controls += 1
        if self._controls > CONTROL_FRAMES:
            self._cut_off(f"too many pings: at most {CONTROL_FRAMES} in {CONTROL_SECONDS:g} s")

    def _cut_off(self, reason: str) -> None:
        """Fail the connection, ignoring further data."""
        if self._protocol.state is State.OPEN:
            self._protocol.fail(_TOO_MANY, reason)
            self._write_control()

    def _write_control(self) -> None:
        """Write the protocol's output; an empty piece means the end of the stream."""
        for data in self._protocol.data_to_send():
            if data:
                self._transport.write(data)
            elif not self._transport.is_closing():
                self._transport.close()
        if self._protocol.close_expected() and self._ending is None:
            self._ending = self._loop.call_later(CLOSE_SECONDS, self._transport.abort)

    def _keep_alive(self) -> None:
        earliest = self._loop.time() - PONG_LIMIT_SECONDS
        unheard = self._transport.is_reading() and self._heard_seconds < earliest
        unread = self._unwritable_since is not None and self._unwritable_since < earliest
        if unheard or unread:
            self._transport.abort()
            return
        self.ping(_ignore)
        self._pinging = self._loop.call_later(PING_SECONDS, self._keep_alive)


def _short(reason: str) -> str:
    """Shorten a reason to the 123 bytes of a close frame."""
    return reason.encode()[:123].decode(errors="ignore")


def _ignore() -> None: ...
