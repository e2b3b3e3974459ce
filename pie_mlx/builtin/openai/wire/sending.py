"""Answers: one object, or a stream of server-sent events."""

import uuid
from contextlib import aclosing

import msgspec

STREAM_HEADERS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
_encode = msgspec.json.Encoder().encode


def identifier(prefix):
    """An id for a part of an answer."""
    return f"{prefix}_{uuid.uuid4().hex[:24]}"


async def answer(costs, pieces, form, *, stream):
    """`form` formats the parts: `whole(pieces, costs)`; in a stream `opening()`, `chunks(piece)`, and
    `closing(costs)` or `failed(error)`, then `END`.

    The first part is awaited before the answer begins, so that an error before it gets an HTTP status.
    """
    first = await anext(pieces)
    if stream:
        return {"headers": STREAM_HEADERS, "body": _stream(costs, first, pieces, form)}
    rest = [piece async for piece in pieces]
    return {"headers": {"content-type": "application/json"}, "body": _encode(form.whole([first, *rest], costs))}


async def _stream(costs, first, pieces, form):
    async with aclosing(pieces):
        yield _events([*form.opening(), *form.chunks(first)])
        try:
            async for piece in pieces:
                if chunks := form.chunks(piece):
                    yield _events(chunks)
        except Exception as error:
            yield _events(form.failed(error))
            return
    yield _events(form.closing(costs)) + form.END


def _events(values):
    return b"".join(map(_event, values))


def _event(value):
    """A server-sent event, named after its type if it has one."""
    name = b"event: %b\n" % value["type"].encode() if "type" in value else b""
    return name + b"data: " + _encode(value) + b"\n\n"
