"""Answers an HTTP request in the process that was started for it. Runs where the program runs."""

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, cast
from urllib.parse import parse_qsl

import msgspec

from inferlet._calls.host import current_host
from pie_mlx.calls import BeginHttpAnswer, Host, HttpRequest, ReadHttpRequest, WriteHttpBody
from pie_mlx.errors import InvalidTypeError, LaunchError
from pie_mlx.runtime.program.parameters import Input

TEXT, BINARY, JSON = "text/plain; charset=utf-8", "application/octet-stream", "application/json"
_KEYS = frozenset({"status", "headers", "body", "result"})

Handler = Callable[..., Awaitable[object]]


async def answer_request(handle: Handler, input: Input) -> object:
    """Pass this process's request to `handle`, and the answer to the client. Returns the `result` of the answer.

    A function as `result` is called once the body has been sent. Raises LaunchError for a handler with other
    parameters, InvalidTypeError for an invalid answer.
    """
    host = current_host()
    request = request_mapping(await host.submit(ReadHttpRequest()))
    arguments = (request, input) if _takes(handle, 2) else (request,)
    if not _takes(handle, len(arguments)):
        raise LaunchError("handle: takes other arguments", hint="write 'async def handle(request)'")
    status, headers, body, result = _parts(await handle(*arguments))
    if isinstance(body, AsyncIterator):
        pieces = cast("AsyncIterator[object]", body)
        await host.submit(BeginHttpAnswer(status, _with_type(headers, TEXT)))
        await _stream(host, pieces)
    else:
        data, kind = _encoded(body)
        await host.submit(BeginHttpAnswer(status, [*_with_type(headers, kind), ("content-length", str(len(data)))]))
        await host.submit(WriteHttpBody(data, last=True))
    return result() if callable(result) else result


def request_mapping(request: HttpRequest) -> dict[str, Any]:
    """The request as a handler sees it: lower-case `headers`, `body` as bytes; in `query` the last of equal names."""
    headers: dict[str, str] = {}
    for name, value in request.headers:
        joint = "; " if name == "cookie" else ", "
        headers[name] = f"{headers[name]}{joint}{value}" if name in headers else value
    return {
        "method": request.method,
        "path": request.path,
        "query": dict(parse_qsl(request.query, keep_blank_values=True)),
        "headers": headers,
        "body": request.body,
    }


async def _stream(host: Host, pieces: AsyncIterator[object]) -> None:
    try:
        await _send_pieces(host, pieces)
    finally:
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()


async def _send_pieces(host: Host, pieces: AsyncIterator[object]) -> None:
    """Send each piece while the program produces the next."""
    sending: asyncio.Task[None] | None = None
    try:
        async for piece in pieces:
            data, _ = _encoded(piece)
            if sending is not None:
                await sending
            sending = asyncio.create_task(host.submit(WriteHttpBody(data)))
        if sending is not None:
            await sending
        await host.submit(WriteHttpBody(b"", last=True))
    except asyncio.CancelledError:
        if sending is not None:
            sending.cancel()
        raise
    finally:
        if sending is not None:  # send what was produced before a failure; ignore that the client has gone
            await asyncio.gather(sending, return_exceptions=True)


def _parts(answer: object) -> tuple[int, list[tuple[str, str]], object, object]:
    if not isinstance(answer, Mapping):
        raise InvalidTypeError(
            f"handle: answered {type(answer).__name__}", hint='return {"status": 200, "headers": {}, "body": ...}'
        )
    fields = cast("Mapping[str, object]", answer)
    if unknown := set(fields) - _KEYS:
        raise InvalidTypeError(
            f"handle: unknown keys in the answer: {sorted(unknown)}", hint="status, headers, body, result"
        )
    status, headers = fields.get("status", 200), fields.get("headers", {})
    if not isinstance(status, int) or not isinstance(headers, Mapping):
        raise InvalidTypeError(
            "handle: status or headers of another type", hint="status is an int, headers a mapping of str to str"
        )
    pairs = [(str(name).lower(), str(value)) for name, value in cast("Mapping[object, object]", headers).items()]
    return status, [pair for pair in pairs if pair[0] != "content-length"], fields.get("body"), fields.get("result")


def _encoded(body: object) -> tuple[bytes, str]:
    match body:
        case None:
            return b"", TEXT
        case str():
            return body.encode("utf-8", "replace"), TEXT
        case bytes() | bytearray():
            return bytes(body), BINARY
        case _:
            return _json(body), JSON


def _json(body: object) -> bytes:
    try:
        return json.dumps(msgspec.to_builtins(body), ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidTypeError(
            f"handle: body of type {type(body).__name__}: {error}", hint="return str, bytes or what JSON can hold"
        ) from error


def _with_type(headers: list[tuple[str, str]], kind: str) -> list[tuple[str, str]]:
    if any(name == "content-type" for name, _ in headers):
        return headers
    return [("content-type", kind), *headers]


def _takes(function: Handler, count: int) -> bool:
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    return True
