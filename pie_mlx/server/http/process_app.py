"""Answers each HTTP request by its own process."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from pie_mlx.calls import HttpRequest
from pie_mlx.errors import PieError, ProcessCancelledError
from pie_mlx.events import SIGNAL, told_message
from pie_mlx.runtime.daemon import HttpExchange, WakeupBatcher
from pie_mlx.runtime.execution.outcome import Failed, Returned
from pie_mlx.runtime.execution.process import Process
from pie_mlx.runtime.registry import STOPPED
from pie_mlx.server.http.content_encoding import DamagedBodyError, Decoder, UnknownEncodingError, decoder_of
from pie_mlx.server.http.rate_limits import ByteRateLimiter, TurnLimiter
from pie_mlx.server.transport.refusals import refused
from pie_mlx.server.watching.request_metrics import ServedRequest

BODY_LIMIT_BYTES = 16 << 20
BODIES_LIMIT_BYTES = 256 << 20
"""Bodies of all requests in progress."""
BODY_BYTES_PER_SECOND, BODY_BURST_SECONDS = 48 << 20, 0.5
"""For all bodies: reading faster takes the interpreter from the programs."""
DRAINED_BYTES = 256 << 20
DRAIN_SECONDS, DRAIN_PAUSE_SECONDS = 10.0, 2.0
"""How long a refused body is read and discarded: in all, and without new bytes."""
AT_ONCE = 1024
BEGUN_PER_TURN = 8
"""Each start takes about a millisecond of the loop."""
SLOWEST_BODY = 8 << 10
"""Minimum average bytes per second of a body: a slower one would hold a place for hours."""
PIECE_BYTES = 64 << 10
"""Bytes that a client must read within its timeout: small, so that slow readers do not count as stalled."""
_log = logging.getLogger(__name__)

LaunchFor = Callable[[HttpExchange], Awaitable[Process]]


class _UnreadError(Exception):
    """The client does not read. Not TimeoutError, which a program may raise."""


class _DisconnectedError(Exception):
    """The client went away before its body was complete."""


class _RefusedError(Exception):
    """A request is refused before it is read completely."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


@dataclass(slots=True, eq=False)
class _PendingRequest:
    """A request from its arrival until it is answered; `ending` runs as long as its process."""

    served: ServedRequest
    body: bytearray = field(default_factory=bytearray)
    is_received: bool = False
    size_bytes: int = 0
    ending: "asyncio.Task[None] | None" = None


class ProcessApp:
    """An ASGI app. `launch` starts the process that answers an exchange.

    At most `at_once` requests, with `bodies_limit_bytes` of bodies, are in progress, from their first byte until their
    process ends; more are refused unread. `finished` is called for each, refused or not, after its process has ended.

    The process ends if its client disconnects, or does not read or send for `patience_seconds`. If the process fails
    after starting its answer, the connection is broken, so that a partial answer does not look complete.
    """

    def __init__(
        self,
        launch: LaunchFor,
        *,
        patience_seconds: float,
        body_limit_bytes: int = BODY_LIMIT_BYTES,
        bodies_limit_bytes: int = BODIES_LIMIT_BYTES,
        at_once: int = AT_ONCE,
        finished: Callable[[ServedRequest], None] = lambda served: None,
    ) -> None:
        self._launch = launch
        self._finished = finished
        self._patience_seconds = patience_seconds
        self._body_limit_bytes = body_limit_bytes
        self._bodies_limit_bytes = bodies_limit_bytes
        self._bodies_bytes = 0
        self._at_once = at_once
        self._turns = TurnLimiter(BEGUN_PER_TURN)
        self._rate = ByteRateLimiter(BODY_BYTES_PER_SECOND, BODY_BURST_SECONDS)
        self._pending: set[_PendingRequest] = set()
        self._batcher: WakeupBatcher | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if len(self._pending) >= self._at_once:  # before reading anything
            await refused(503, "too many requests at once: try again later", scope["path"])(scope, receive, send)
            self._finished(ServedRequest(scope["path"], 503))
            return
        pending = _PendingRequest(ServedRequest(scope["path"]))
        self._pending.add(pending)
        try:
            await self._receive(pending, scope, receive, send)
        finally:
            if pending.ending is None:
                self._leave(pending)
            else:
                pending.ending.add_done_callback(lambda _: self._leave(pending))

    def _leave(self, pending: _PendingRequest) -> None:
        self._pending.discard(pending)
        self._bodies_bytes -= pending.size_bytes
        self._finished(pending.served)

    async def _receive(self, pending: _PendingRequest, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._read_body(pending, scope, receive)
        except _DisconnectedError:
            return
        except _RefusedError as error:
            pending.served.status = error.status
            answer = refused(error.status, error.text, scope["path"])
            if pending.is_received:
                await answer(scope, receive, send)
            else:
                await self._refuse_and_drain(answer, scope, receive, send)
            return
        pending.served.asked_seconds = time.monotonic()
        await self._turns.turn()
        body, pending.body = bytes(pending.body), bytearray()
        await self._serve(pending, _request(scope, body), scope, receive, send)

    async def _read_body(self, pending: _PendingRequest, scope: Scope, receive: Receive) -> None:
        """Raises _RefusedError as soon as a body is known to be too long, too slow, damaged or of unknown encoding, and
        _DisconnectedError."""
        self._check_size(pending, _declared_bytes(scope))
        try:
            decoder = decoder_of(scope["headers"])
            await self._read_pieces(pending, decoder, receive)
            decoder.finish()
        except UnknownEncodingError as error:
            raise _RefusedError(415, f"content-encoding {str(error)[:100]}: send gzip, or no encoding") from None
        except DamagedBodyError as error:
            raise _RefusedError(400, f"the body is not gzip: {error}") from None

    async def _read_pieces(self, pending: _PendingRequest, decoder: Decoder, receive: Receive) -> None:
        loop, received_bytes = asyncio.get_running_loop(), 0
        begun_seconds = loop.time()
        while not pending.is_received:
            needed_seconds = begun_seconds + received_bytes / SLOWEST_BODY
            try:
                async with asyncio.timeout_at(min(loop.time(), needed_seconds) + self._patience_seconds):
                    message = await receive()
            except TimeoutError:
                raise _RefusedError(408, "the body arrives too slowly: send it again, faster") from None
            if message["type"] == "http.disconnect":
                raise _DisconnectedError
            received_bytes += len(message.get("body", b""))
            pending.is_received = not message.get("more_body", False)
            for piece in decoder.decode(message.get("body", b"")):
                self._check_size(pending, len(pending.body) + len(piece))
                pending.body += piece
                pending.size_bytes += len(piece)
                self._bodies_bytes += len(piece)
                begun_seconds += await self._rest(piece)

    async def _refuse_and_drain(self, answer: JSONResponse, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer at once, then read and discard the body: otherwise a sending client would get a reset instead."""

        async def unfinished(message: Message) -> None:
            await send({**message, "more_body": True} if message["type"] == "http.response.body" else message)

        await answer(scope, receive, unfinished)
        left, loop = DRAINED_BYTES, asyncio.get_running_loop()
        until_seconds = loop.time() + DRAIN_SECONDS
        with contextlib.suppress(TimeoutError):
            while left > 0:
                async with asyncio.timeout_at(min(loop.time() + DRAIN_PAUSE_SECONDS, until_seconds)):
                    message = await receive()
                until_seconds += await self._rest(message.get("body", b""))
                if not message.get("more_body", False):
                    break
                left -= len(message["body"])
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _rest(self, piece: bytes) -> float:
        """Let others run after a piece of a body, and limit the rate; returns the seconds slept."""
        seconds = self._rate.wait_seconds(len(piece), asyncio.get_running_loop().time())
        await asyncio.sleep(seconds)
        return seconds

    def _check_size(self, pending: _PendingRequest, size_bytes: int) -> None:
        if size_bytes > self._body_limit_bytes:
            raise _RefusedError(413, f"the body is longer than {self._body_limit_bytes >> 20} MiB")
        if self._bodies_bytes - pending.size_bytes + size_bytes > self._bodies_limit_bytes:
            raise _RefusedError(503, "the requests in progress are too large: try again later")

    async def _serve(
        self, pending: _PendingRequest, request: HttpRequest, scope: Scope, receive: Receive, send: Send
    ) -> None:
        self._batcher = self._batcher or WakeupBatcher(asyncio.get_running_loop())
        served = pending.served
        exchange = HttpExchange(request, self._batcher, asked_seconds=served.asked_seconds)
        launching = asyncio.ensure_future(self._launch(exchange))
        leaving = asyncio.create_task(_leave(receive, exchange, launching))
        try:
            await asyncio.wait((launching,))
            if launching.cancelled():  # the client disconnected before the launch
                return
            pending.ending = asyncio.create_task(_end(exchange, launching.result(), served))
            await self._answer(exchange, served, scope, receive, send)
        except _UnreadError:
            _give_up(exchange, launching, f"the client has read nothing for {self._patience_seconds:g} s")
        except PieError as error:
            served.status = 503
            await refused(503, error.message, scope["path"])(scope, receive, send)
        finally:
            leaving.cancel()

    async def _answer(
        self, exchange: HttpExchange, served: ServedRequest, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Raises _UnreadError if the client does not read."""
        try:
            status, headers = await exchange.head()
        except Exception as error:
            answer = _unanswered(error, scope["path"])
            if not exchange.is_gone:
                served.end(answer.status_code)
            await answer(scope, receive, send)
            return
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        whole = False
        try:
            async for data in exchange.body():
                whole = exchange.is_whole
                await self._send(data, send, whole=whole)
        except _UnreadError:
            raise
        except Exception as error:
            # A partial answer: the connection is closed because it is not completed.
            if not exchange.is_gone:
                served.end(500)
                _log.warning("%s %s: the answer breaks off: %s", scope["method"], scope["path"], _told(error))
            return
        if not whole:
            await self._send(b"", send, whole=True)
        if not exchange.is_gone:
            served.end(status)

    async def _send(self, data: bytes, send: Send, *, whole: bool) -> None:
        for start in range(0, len(data) or 1, PIECE_BYTES):
            end = start + PIECE_BYTES
            more = not whole or end < len(data)
            try:
                async with asyncio.timeout(self._patience_seconds):
                    await send({"type": "http.response.body", "body": data[start:end], "more_body": more})
            except TimeoutError:
                raise _UnreadError from None


def _declared_bytes(scope: Scope) -> int:
    """The declared length of the body, 0 if not declared."""
    found = dict(scope["headers"]).get(b"content-length", b"")
    return int(found) if found.isdigit() and len(found) < 20 else 0


def _request(scope: Scope, body: bytes) -> HttpRequest:
    """The request for the program: the body decoded, HEAD as GET, whose body is left out of the answer."""
    headers = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
    if any(name == "content-encoding" for name, _ in headers):
        others = [field for field in headers if field[0] not in ("content-encoding", "content-length")]
        headers = [*others, ("content-length", str(len(body)))]
    method = "GET" if scope["method"] == "HEAD" else scope["method"]
    return HttpRequest(method, scope["path"], scope["query_string"].decode("latin-1"), headers, body)


def _unanswered(error: Exception, path: str) -> JSONResponse:
    """The answer for a process that ended without one.

    If the process was terminated, it is not an error of its program; after a deliberate termination, OpenAI clients are
    asked not to retry.
    """
    told = _told(error)
    if not isinstance(error, ProcessCancelledError) or str(error) not in (SIGNAL, STOPPED):
        return refused(500, f"{type(error).__name__}: {told}", path)
    answer = refused(503, f"the request was not answered: {told}", path)
    if str(error) == SIGNAL:
        answer.headers["x-should-retry"] = "false"
    return answer


def _told(error: Exception) -> str:
    return told_message(type(error).__name__, str(error))


async def _end(exchange: HttpExchange, process: Process, served: ServedRequest) -> None:
    served.process, outcome = process.id, await process.outcome()
    error = outcome.error if isinstance(outcome, Failed) else None
    if isinstance(outcome, Returned):
        served.returned = outcome.value
    exchange.end(error if isinstance(error, Exception) or error is None else RuntimeError(str(error)))


async def _leave(receive: Receive, exchange: HttpExchange, launching: "asyncio.Future[Process]") -> None:
    """Wait until the client disconnects, then end its process or cancel its launch."""
    while (await receive())["type"] != "http.disconnect":
        pass
    _give_up(exchange, launching, "the client has gone")


def _give_up(exchange: HttpExchange, launching: "asyncio.Future[Process]", reason: str) -> None:
    exchange.hang_up()
    if not launching.done():
        launching.cancel()
    elif launching.exception() is None:
        launching.result().cancel(reason)
