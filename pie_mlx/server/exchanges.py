"""HTTP requests, each answered by a process of its own."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from pie_mlx.calls import HttpRequest
from pie_mlx.errors import PieError, ProcessCancelledError
from pie_mlx.events import SIGNAL, told_message
from pie_mlx.runtime.daemon import Exchange, Postbox
from pie_mlx.runtime.outcome import Failed
from pie_mlx.runtime.process import Process
from pie_mlx.runtime.registry import STOPPED

BODY_LIMIT_BYTES = 16 << 20
AT_ONCE = 1024
PIECE_BYTES = 64 << 10
"""What a client has to take within its time, so that one that reads slowly is not taken for one that does not."""
_log = logging.getLogger(__name__)
_KINDS = {401: "authentication_error", 403: "permission_error"}
_CODES = {401: "invalid_api_key"}

Launch = Callable[[Exchange], Awaitable[Process]]


class _UnreadError(Exception):
    """The client does not read. Not TimeoutError: a program may end with one."""


@dataclass(slots=True, eq=False)
class _Visit:
    """A request from its arrival until it is answered; `ending` goes on where its process does."""

    ending: "asyncio.Task[None] | None" = None


class ProcessApp:
    """An ASGI app. `launch` starts the process that answers an exchange.

    There are `at_once` requests, from their first byte until their process is over; more are refused unread. A client
    that goes away ends its process, and so does one that reads or sends nothing for `patience_seconds`. A process that
    fails after it has begun to answer breaks the connection, so that half an answer is not taken for a whole one.
    """

    def __init__(
        self,
        launch: Launch,
        *,
        patience_seconds: float,
        body_limit_bytes: int = BODY_LIMIT_BYTES,
        at_once: int = AT_ONCE,
    ) -> None:
        self._launch = launch
        self._patience_seconds = patience_seconds
        self._body_limit_bytes = body_limit_bytes
        self._at_once = at_once
        self._visits: set[_Visit] = set()
        self._postbox: Postbox | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if len(self._visits) >= self._at_once:  # before anything is read of it
            await refused(503, "too many requests at once: try again later")(scope, receive, send)
            return
        visit = _Visit()
        self._visits.add(visit)
        try:
            await self._receive(visit, scope, receive, send)
        finally:
            if visit.ending is None:
                self._visits.discard(visit)
            else:
                visit.ending.add_done_callback(lambda _: self._visits.discard(visit))

    async def _receive(self, visit: _Visit, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            request = await _request(scope, receive, self._body_limit_bytes, self._patience_seconds)
        except TimeoutError:
            await refused(408, f"nothing of the body has come for {self._patience_seconds:g} s")(scope, receive, send)
            return
        if request is None:
            await refused(413, f"the body is longer than {self._body_limit_bytes >> 20} MiB")(scope, receive, send)
        else:
            await self._serve(visit, request, scope, receive, send)

    async def _serve(self, visit: _Visit, request: HttpRequest, scope: Scope, receive: Receive, send: Send) -> None:
        self._postbox = self._postbox or Postbox(asyncio.get_running_loop())
        exchange = Exchange(request, self._postbox)
        launching = asyncio.ensure_future(self._launch(exchange))
        leaving = asyncio.create_task(_leave(receive, exchange, launching))
        try:
            await asyncio.wait((launching,))
            if launching.cancelled():  # the client did not wait for its turn
                return
            visit.ending = asyncio.create_task(_end(exchange, launching.result()))
            await self._answer(exchange, scope, receive, send)
        except _UnreadError:
            _give_up(exchange, launching, f"the client has read nothing for {self._patience_seconds:g} s")
        except PieError as error:
            await refused(503, error.message)(scope, receive, send)
        finally:
            leaving.cancel()

    async def _answer(self, exchange: Exchange, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises _UnreadError for a client that does not read."""
        try:
            status, headers = await exchange.head()
        except Exception as error:
            await _unanswered(error)(scope, receive, send)
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
            # Half an answer: the connection is closed because it is not completed.
            if not exchange.is_gone:
                _log.warning("%s %s: the answer breaks off: %s", scope["method"], scope["path"], _told(error))
            return
        if not whole:
            await self._send(b"", send, whole=True)

    async def _send(self, data: bytes, send: Send, *, whole: bool) -> None:
        for start in range(0, len(data) or 1, PIECE_BYTES):
            end = start + PIECE_BYTES
            more = not whole or end < len(data)
            try:
                async with asyncio.timeout(self._patience_seconds):
                    await send({"type": "http.response.body", "body": data[start:end], "more_body": more})
            except TimeoutError:
                raise _UnreadError from None


async def _request(scope: Scope, receive: Receive, limit_bytes: int, patience_seconds: float) -> HttpRequest | None:
    """The whole request; None when its body is too long. Raises TimeoutError when nothing more of it comes."""
    body = bytearray()
    more = True
    while more:
        async with asyncio.timeout(patience_seconds):
            message = await receive()
        body += message.get("body", b"")
        if len(body) > limit_bytes:
            return None
        more = message.get("more_body", False)
    headers = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
    query = scope["query_string"].decode("latin-1")
    return HttpRequest(scope["method"], scope["path"], query, headers, bytes(body))


def _unanswered(error: Exception) -> JSONResponse:
    """For the client of a process that ended without an answer.

    One that was ended from outside is no fault of its program, and clients of OpenAI's are told not to try again what
    somebody has ended on purpose.
    """
    told = _told(error)
    if not isinstance(error, ProcessCancelledError) or str(error) not in (SIGNAL, STOPPED):
        return refused(500, f"{type(error).__name__}: {told}")
    answer = refused(503, f"the request was not answered: {told}")
    if str(error) == SIGNAL:
        answer.headers["x-should-retry"] = "false"
    return answer


def _told(error: Exception) -> str:
    return told_message(type(error).__name__, str(error))


def refused(status: int, text: str) -> JSONResponse:
    """An error in the form of OpenAI's interface."""
    kind, code = _KINDS.get(status, "server_error" if status >= 500 else "invalid_request_error"), _CODES.get(status)
    return JSONResponse({"error": {"message": text, "type": kind, "param": None, "code": code}}, status)


async def _end(exchange: Exchange, process: Process) -> None:
    outcome = await process.outcome()
    error = outcome.error if isinstance(outcome, Failed) else None
    exchange.end(error if isinstance(error, Exception) or error is None else RuntimeError(str(error)))


async def _leave(receive: Receive, exchange: Exchange, launching: "asyncio.Future[Process]") -> None:
    """Waits until the client is gone, and ends its process then, or gives up its launch."""
    while (await receive())["type"] != "http.disconnect":
        pass
    _give_up(exchange, launching, "the client has gone")


def _give_up(exchange: Exchange, launching: "asyncio.Future[Process]", reason: str) -> None:
    exchange.hang_up()
    if not launching.done():
        launching.cancel()
    elif launching.exception() is None:
        launching.result().cancel(reason)
