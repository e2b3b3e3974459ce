"""The websocket under a client: matches responses to requests, and passes on all other frames."""

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
_OPEN_SECONDS = 10.0
_TOO_BUSY = 503

Arranged = Callable[[str], None]
"""Called with the result of a request before any later frame is handled."""

Unwanted = Callable[[str], None]
"""Called with the result of a cancelled request, to undo it."""


@dataclass(slots=True)
class _Pending:
    answer: "asyncio.Future[str]"
    arranged: Arranged | None
    unwanted: Unwanted | None


class Connection:
    """`take` gets every frame that is no response; `lost` gets the reason when the connection ends."""

    def __init__(
        self, socket: ClientConnection, take: Callable[[frames.AnyServerFrame], None], lost: Callable[[PieError], None]
    ) -> None:
        self._socket = socket
        self._take = take
        self._lost = lost
        self._pending: dict[int, _Pending] = {}
        self._numbers = itertools.count(1)
        self._ended: PieError | None = None
        self._reader = asyncio.create_task(self._read())

    def next_number(self) -> int:
        return next(self._numbers)

    async def ask(
        self, type: str, *, arranged: Arranged | None = None, unwanted: Unwanted | None = None, **fields: Any
    ) -> str:
        """Send a request and return its result. Raises the server's refusal, and SessionClosedError."""
        number = self.next_number()
        answer = self.expect(number, arranged, unwanted)
        try:
            await self.send(type, corr_id=number, **fields)
            return await answer
        except asyncio.CancelledError:
            # The answer may be there before the caller resumes, or come later; `_respond` handles that.
            if not answer.cancel() and unwanted is not None and _is_result(answer):
                unwanted(answer.result())
            raise

    def expect(
        self, number: int, arranged: Arranged | None = None, unwanted: Unwanted | None = None
    ) -> "asyncio.Future[str]":
        """The future result of the request with that number, which is sent next."""
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        if self._ended is not None:
            raise self._ended.with_traceback(None)
        answer.add_done_callback(_look_at)
        self._pending[number] = _Pending(answer, arranged, unwanted)
        return answer

    async def send(self, type: str, **fields: Any) -> None:
        """Send a frame without an answer. Raises SessionClosedError, and InvalidArgumentError for unfit values."""
        try:
            await self._socket.send(frames.encode(type, fields))
        except ConnectionClosed as closed:
            raise _closed(closed) from None

    async def close(self) -> None:
        try:
            await self._socket.close()
            await asyncio.gather(self._reader, return_exceptions=True)
        except BaseException:
            self._socket.transport.abort()  # cancelling the close leaves nothing open
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
                    self._take(frame)
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
            if response.ok and pending.unwanted is not None:
                pending.unwanted(response.result)
            return
        if not response.ok:
            code = response.code or "protocol"
            pending.answer.set_exception(from_code(code, response.result, response.hint, {}))
            return
        if pending.arranged is not None:
            pending.arranged(response.result)
        pending.answer.set_result(response.result)

    def _end(self, reason: PieError) -> None:
        self._ended = reason
        pending, self._pending = self._pending, {}
        for item in pending.values():
            if not item.answer.done():
                item.answer.set_exception(reason)
        self._lost(reason)


async def open_socket(url: str, unix_socket: str | None) -> ClientConnection:
    """Raises SessionClosedError without an answer, AuthError if the server refuses the handshake, ProtocolError for
    an invalid address."""
    options: dict[str, Any] = {
        "compression": None,
        "max_size": FRAME_LIMIT_BYTES,
        "open_timeout": _OPEN_SECONDS,
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
    except (InvalidURI, ValueError):  # Python's, for an impossible port or host
        raise ProtocolError(f"{url}: not an address of an engine", hint="write ws://HOST:PORT") from None
    except (OSError, TimeoutError, InvalidHandshake) as error:
        where = unix_socket or url
        raise SessionClosedError(
            f"no engine answers at {where}: {error or type(error).__name__}", hint="start one with 'pie serve'"
        ) from None


async def _connect(url: str, options: dict[str, Any]) -> ClientConnection:
    """Tries again, as long as connecting may take, while the engine has too many connections. Raises the errors of
    `connect`."""
    loop = asyncio.get_running_loop()
    until_seconds = loop.time() + _OPEN_SECONDS
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


def _look_at(answer: "asyncio.Future[str]") -> None:
    """Retrieve the exception of a request that could not be sent, which asyncio would otherwise report."""
    if not answer.cancelled():
        answer.exception()


def _closed(closed: ConnectionClosed) -> SessionClosedError:
    if closed.rcvd is None:
        return SessionClosedError("the connection to the engine was lost", hint="connect again")
    reason = f": {closed.rcvd.reason}" if closed.rcvd.reason else ""
    return SessionClosedError(f"the engine closed the connection ({closed.rcvd.code}){reason}", hint="connect again")
