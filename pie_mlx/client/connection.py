"""The websocket of a client: matches responses to requests, and passes on all other frames."""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.client import ClientConnection, connect, unix_connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from pie_mlx.client import frames
from pie_mlx.errors import AuthError, PieError, ProtocolError, SessionClosedError, from_code

FRAME_LIMIT_BYTES = 1 << 20
OPEN_SECONDS = 10.0
_TOO_BUSY = 503

OnResult = Callable[[str], None]
"""Called with the result of a request before any later frame is handled."""

Undo = Callable[[str], None]
"""Called with the result of a request whose caller was cancelled, to undo it."""


@dataclass(slots=True)
class _Pending:
    answer: "asyncio.Future[str]"
    on_result: OnResult | None
    undo: Undo | None


class Connection:
    """`on_frame` is called with every frame but responses, `on_lost` with the reason when the connection ends."""

    def __init__(
        self,
        socket: ClientConnection,
        on_frame: Callable[[frames.AnyServerFrame], None],
        on_lost: Callable[[PieError], None],
    ) -> None:
        self._socket = socket
        self._on_frame = on_frame
        self._on_lost = on_lost
        self._pending: dict[int, _Pending] = {}
        self._numbers = itertools.count(1)
        self._ended: PieError | None = None
        self._reader = asyncio.create_task(self._read())

    def next_number(self) -> int:
        return next(self._numbers)

    async def ask(
        self, type: str, *, on_result: OnResult | None = None, undo: Undo | None = None, **fields: Any
    ) -> str:
        """Send a request and return its result. Raises the server's error, and SessionClosedError."""
        number = self.next_number()
        answer = self.expect(number, on_result, undo)
        try:
            await self.send(type, corr_id=number, **fields)
            return await answer
        except asyncio.CancelledError:
            # The answer may have arrived before the caller resumed; `_respond` handles one that arrives later.
            if not answer.cancel() and undo is not None and _is_result(answer):
                undo(answer.result())
            raise

    def expect(self, number: int, on_result: OnResult | None = None, undo: Undo | None = None) -> "asyncio.Future[str]":
        """The result of the request with that number, which the caller sends next."""
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        if self._ended is not None:
            raise self._ended.with_traceback(None)
        answer.add_done_callback(_mark_retrieved)
        self._pending[number] = _Pending(answer, on_result, undo)
        return answer

    async def send(self, type: str, **fields: Any) -> None:
        """Send a frame that has no response. Raises SessionClosedError, and InvalidArgumentError for unfit values."""
        try:
            await self._socket.send(frames.encode(type, fields))
        except ConnectionClosed as closed:
            raise _closed(closed) from None

    async def close(self) -> None:
        try:
            await self._socket.close()
            await asyncio.gather(self._reader, return_exceptions=True)
        except BaseException:
            self._socket.transport.abort()  # cancelled while closing: leave nothing open
            raise

    async def _read(self) -> None:
        ended: PieError = SessionClosedError("the connection is closed")
        try:
            while True:
                data = await self._socket.recv()
                frame = frames.decode(data) if isinstance(data, bytes) else None
                if isinstance(frame, frames.Response):
                    self._respond(frame)
                elif frame is not None:
                    self._on_frame(frame)
        except ConnectionClosed as closed:
            ended = _closed(closed)
        except ProtocolError as error:
            ended = error
            await self._socket.close(1002)
        finally:
            self._end(ended)

    def _respond(self, response: frames.Response) -> None:
        pending = self._pending.pop(response.corr_id, None)
        if pending is None:
            return
        if pending.answer.done():
            if response.ok and pending.undo is not None:
                pending.undo(response.result)
            return
        if not response.ok:
            code = response.code or "protocol"
            pending.answer.set_exception(from_code(code, response.result, response.hint, {}))
            return
        if pending.on_result is not None:
            pending.on_result(response.result)
        pending.answer.set_result(response.result)

    def _end(self, reason: PieError) -> None:
        self._ended = reason
        pending, self._pending = self._pending, {}
        for item in pending.values():
            if not item.answer.done():
                item.answer.set_exception(reason)
        self._on_lost(reason)


async def open_socket(url: str, unix_socket: str | None) -> ClientConnection:
    """Connect. Raises SessionClosedError when no engine answers, AuthError when the server refuses, ProtocolError
    for an invalid address."""
    options: dict[str, Any] = {
        "compression": None,
        "max_size": FRAME_LIMIT_BYTES,
        "open_timeout": OPEN_SECONDS,
        "proxy": None,
    }
    try:
        if unix_socket is not None:
            del options["proxy"]
            return await unix_connect(unix_socket, "ws://localhost/", **options)
        return await _connect(url, options)
    except InvalidStatus as refused:
        status = refused.response.status_code
        reason = (refused.response.body or b"").decode(errors="replace").strip()
        if status == _TOO_BUSY:
            raise SessionClosedError(f"{url}: {reason}", hint="connect again later") from None
        raise AuthError(f"{url}: refused with {status}: {reason}", hint="see the engine's settings") from None
    except (InvalidURI, ValueError):  # Python's error for an impossible port or host
        is_http = url.startswith(("http://", "https://"))
        address = "/".join(url.replace("http", "ws", 1).split("/")[:3]) if is_http else "ws://HOST:PORT"
        raise ProtocolError(f"{url}: not an address of an engine", hint=f"write {address}") from None
    except (OSError, TimeoutError, InvalidHandshake) as error:
        where = unix_socket or url
        raise SessionClosedError(
            f"no engine answers at {where}: {error or type(error).__name__}", hint="start one with 'pie serve'"
        ) from None


async def _connect(url: str, options: dict[str, Any]) -> ClientConnection:
    """Connect, and retry while the engine has too many connections, until the timeout. Raises what `connect` raises."""
    loop = asyncio.get_running_loop()
    until_seconds = loop.time() + OPEN_SECONDS
    while True:
        try:
            return await connect(url, **options)
        except InvalidStatus as refused:
            after = refused.response.headers.get("Retry-After", "")
            is_busy = refused.response.status_code == _TOO_BUSY and after.isdecimal()
            if not is_busy or loop.time() + int(after) > until_seconds:
                raise
            await asyncio.sleep(int(after))


def _is_result(answer: "asyncio.Future[str]") -> bool:
    return not answer.cancelled() and answer.exception() is None


def _mark_retrieved(answer: "asyncio.Future[str]") -> None:
    """Keep asyncio from warning about the error of a request that could not be sent."""
    if not answer.cancelled():
        answer.exception()


def _closed(closed: ConnectionClosed) -> SessionClosedError:
    if closed.rcvd is None:
        return SessionClosedError("the connection to the engine was lost", hint="connect again")
    reason = f": {closed.rcvd.reason}" if closed.rcvd.reason else ""
    return SessionClosedError(f"the engine closed the connection ({closed.rcvd.code}){reason}", hint="connect again")
