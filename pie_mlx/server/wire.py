"""One websocket connection: bytes in, frames out. It knows the protocol of RFC 6455 and nothing of what frames say."""

import asyncio
import os
import socket
from collections.abc import Callable
from typing import Any, Protocol, cast

from websockets.datastructures import Headers
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

from pie_mlx.server.gate import Refusal

UNAUTHENTICATED_FRAME_BYTES = 64 << 10
PING_SECONDS, PONG_LIMIT_SECONDS = 20.0, 60.0
CLOSE_SECONDS = 5.0
"""How long the other end may take to answer a close frame."""
_NOT_BINARY, _ENGINE_STOPS = 1003, 1001


class Receiver(Protocol):
    """What is connected. Called on the loop; must not block.

    `received` may ask the wire to stop reading. `closed` is called once, whichever side ended it.
    """

    def received(self, frame: bytes) -> None: ...

    def next_frame(self) -> bytes | None: ...

    def writable(self) -> None:
        """The other end reads again, and has got what there was."""

    def closed(self) -> None: ...


class Hall(Protocol):
    """Lets connections in or refuses them, before and at the handshake."""

    def refuses(self, path: str, headers: Headers, connection: socket.socket) -> Refusal | None: ...

    def enter(self, wire: "Wire", connection: socket.socket) -> Receiver: ...


class Wire(asyncio.Protocol):
    """Made by uvicorn when a request asks for a websocket; `hall` decides what becomes of it."""

    def __init__(self, hall: Hall, server_state: Any) -> None:
        self._hall = hall
        self._connections: set[Any] = server_state.connections
        self._protocol = ServerProtocol(max_size=UNAUTHENTICATED_FRAME_BYTES)
        self._transport: asyncio.Transport
        self._receiver: Receiver | None = None
        self._loop = asyncio.get_running_loop()
        self._writable = True
        self._fragments: list[bytes] = []
        self._pongs: dict[bytes, Callable[[], None]] = {}
        self._heard_seconds = self._loop.time()
        self._pinging: asyncio.TimerHandle | None = None
        self._ending: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        for timer in (self._pinging, self._ending):
            if timer is not None:
                timer.cancel()
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.closed()

    def data_received(self, data: bytes) -> None:
        self._heard_seconds = self._loop.time()
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Request):
                self._handshake(event)
            else:
                self._take(event)
        self._write_control()

    def eof_received(self) -> None:
        self._protocol.receive_eof()

    def pause_writing(self) -> None:
        self._writable = False

    def resume_writing(self) -> None:
        self._writable = True
        self.flush()
        if self._receiver is not None:
            self._receiver.writable()

    def shutdown(self) -> None:
        """The engine stops."""
        self.close(_ENGINE_STOPS, "the engine stops")

    @property
    def is_open(self) -> bool:
        return self._receiver is not None and self._protocol.state is State.OPEN

    def allow_frames_of(self, size_bytes: int) -> None:
        """The longest message taken from now on."""
        self._protocol.max_message_size = size_bytes

    def pause_reading(self) -> None:
        if not self._transport.is_closing():
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        if not self._transport.is_closing():
            self._transport.resume_reading()

    def flush(self) -> None:
        """Write what the receiver has, as long as the other end reads."""
        while self._writable and self._receiver is not None and self._protocol.state is State.OPEN:
            frame = self._receiver.next_frame()
            if frame is None:
                return
            self._protocol.send_binary(frame)
            self._write_control()

    def ping(self, answered: Callable[[], None]) -> None:
        """Ask the other end for a sign of life; `answered` is called when it comes."""
        if self._protocol.state is State.OPEN:
            token = os.urandom(8)
            self._pongs[token] = answered
            self._protocol.send_ping(token)
            self._write_control()

    def close(self, code: int, reason: str) -> None:
        """Begin to close. Idempotent."""
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(code, _short(reason))
            self._write_control()
            self._transport.resume_reading()
            self._ending = self._loop.call_later(CLOSE_SECONDS, self._transport.abort)
        elif self._protocol.state is State.CONNECTING:
            self._transport.close()

    def abort(self) -> None:
        """End the connection without waiting for the other end."""
        self._transport.abort()

    def _handshake(self, request: Request) -> None:
        connection = cast("socket.socket", self._transport.get_extra_info("socket"))
        path = request.path.partition("?")[0]
        refusal = self._hall.refuses(path, request.headers, connection)
        if refusal is not None:
            self._protocol.send_response(self._protocol.reject(refusal.status, refusal.text))
        else:
            self._protocol.send_response(self._protocol.accept(request))
            if self._protocol.state is State.OPEN:
                self._receiver = self._hall.enter(self, connection)
                self._pinging = self._loop.call_later(PING_SECONDS, self._keep_alive)
        self._write_control()

    def _take(self, event: Any) -> None:
        frame = cast("Frame", event)
        match frame.opcode:
            case Opcode.PONG:
                answered = self._pongs.pop(bytes(frame.data), None)
                if answered is not None:
                    answered()
            case Opcode.TEXT:
                self.close(_NOT_BINARY, "text frames are not understood: send msgpack in binary frames")
            case Opcode.BINARY | Opcode.CONT:
                self._gather(bytes(frame.data), frame.fin)
            case _:
                pass

    def _gather(self, data: bytes, is_last: bool) -> None:
        self._fragments.append(data)
        if not is_last:
            return
        message, self._fragments = b"".join(self._fragments), []
        if self._receiver is not None and self._protocol.state is State.OPEN:
            self._receiver.received(message)

    def _write_control(self) -> None:
        """Write what the protocol has produced; an empty piece asks for the end of the stream."""
        for data in self._protocol.data_to_send():
            if data:
                self._transport.write(data)
            elif not self._transport.is_closing():
                self._transport.close()
        if self._protocol.close_expected() and self._ending is None:
            self._ending = self._loop.call_later(CLOSE_SECONDS, self._transport.abort)

    def _keep_alive(self) -> None:
        if self._loop.time() - self._heard_seconds > PONG_LIMIT_SECONDS and self._transport.is_reading():
            self._transport.abort()
            return
        self.ping(_ignore)
        self._pinging = self._loop.call_later(PING_SECONDS, self._keep_alive)


def _short(reason: str) -> str:
    """A close frame holds 123 bytes of reason."""
    return reason.encode()[:123].decode(errors="ignore")


def _ignore() -> None: ...
