"""Answers: one object, or a stream of server-sent events."""

import uuid
from contextlib import aclosing

import msgspec

STREAM_HEADERS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
_encode = msgspec.json.Encoder().encode


def identifier(prefix):
    """Of a part of an answer."""
    return f"{prefix}_{uuid.uuid4().hex[:24]}"


async def answer(account, pieces, form, *, stream):
    """`form` says what parts look like: `whole(pieces, account)`; in a stream `opening()`, `chunks(piece)`, and
    `closing(account)` or `failed(error)`, and the `END` of it.

    The first part is awaited before the answer begins, so that what fails until then fails with a status.
    """
    first = await anext(pieces)
    if stream:
        return {"headers": STREAM_HEADERS, "body": _stream(account, first, pieces, form)}
    rest = [piece async for piece in pieces]
    return {"headers": {"content-type": "application/json"}, "body": _encode(form.whole([first, *rest], account))}


async def _stream(account, first, pieces, form):
    async with aclosing(pieces):
        yield _events([*form.opening(), *form.chunks(first)])
        try:
            async for piece in pieces:
                if chunks := form.chunks(piece):
                    yield _events(chunks)
        except Exception as error:
            yield _events(form.failed(error))
            return
    yield _events(form.closing(account)) + form.END


def _events(values):
    return b"".join(map(_event, values))


def _event(value):
    """An event is named after its type, if it has one."""
    name = b"event: %b\n" % value["type"].encode() if "type" in value else b""
    return name + b"data: " + _encode(value) + b"\n\n"
