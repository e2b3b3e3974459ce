"""Answers: one object, or a stream of server-sent events."""

import functools
import time
import uuid
from contextlib import aclosing

import msgspec
from inferlet import runtime
from refusals import error_object

STREAM_HEADERS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
_encode = msgspec.json.Encoder().encode
_version = functools.cache(runtime.version)


def head(prefix, kind, model):
    """What every object of one answer begins with."""
    return {
        "id": f"{prefix}-{uuid.uuid4().hex}",
        "object": kind,
        "created": int(time.time()),
        "model": model.name,
        "system_fingerprint": f"pie-{_version()}",
    }


def event(value):
    return b"data: " + _encode(value) + b"\n\n"


async def answer(account, pieces, request, form):
    """`form` says what parts look like: `whole(pieces)`, `opening()` and `chunks(piece)`.

    The first part is awaited before the answer begins, so that what fails until then fails with a status.
    """
    first = await anext(pieces)
    if request.stream:
        return {"headers": STREAM_HEADERS, "body": _stream(account, first, pieces, request, form)}
    rest = [piece async for piece in pieces]
    body = {**form.whole([first, *rest]), "usage": account.usage(), "timings": account.timings()}
    return {"headers": {"content-type": "application/json"}, "body": _encode(body)}


async def _stream(account, first, pieces, request, form):
    async with aclosing(pieces):
        opening = b"".join(event(chunk) for chunk in form.opening())
        yield opening + b"".join(event(chunk) for chunk in form.chunks(first))
        try:
            async for piece in pieces:
                if chunks := form.chunks(piece):
                    yield b"".join(event(chunk) for chunk in chunks)
        except Exception as error:
            yield event({"error": error_object(error)})
            return
    closing = event(form.closing(account)) if request.includes_usage else b""
    yield closing + b"data: [DONE]\n\n"
