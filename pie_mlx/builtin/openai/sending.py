"""An answer on its way to its client: whole, or as a stream, whose gaps are filled."""

import asyncio
import time
from contextlib import aclosing
from functools import partial

import msgspec
from wire import merged, refusal_of, reported

from inferlet import runtime

HEARD_SECONDS = 0.025
"""How long a stream waits for its body and prompt to be read: until then, a prompt that is refused gets a status."""
REFUSED_SECONDS = 0.005
"""How long it waits for the prompt at least: one that is far too long is refused before it is read."""
SILENT_SECONDS = 5.0
"""A stream says something at least this often: clients and proxies end connections that are silent for long."""
OPENING, PAUSE = object(), object()
_encode = msgspec.json.Encoder().encode


async def send(request, form, checking):
    """The answer to a request. `checking` has its model loaded, and what is asked of that checked; it gives what reads
    the prompt, and that gives the costs and the parts of the replies.

    A stream begins before its first part, and without a model that has to be loaded or a prompt that takes long to
    read, so that its client knows it has been heard. Raises what both raise, unless the stream has begun.
    """
    if not request.stream:
        form.costs, pieces = await (await checking)
        parts = [piece async for piece in pieces]
        headers = reported(request.left_out) | {"content-type": "application/json"}
        return {"headers": headers, "body": _encode(form.whole(parts)), "result": form.costs.result}
    checked = asyncio.ensure_future(checking)
    begun = asyncio.ensure_future(_begin(checked))
    try:
        if await _is_checked(checked, request.model_name):
            left = request.begun + HEARD_SECONDS - time.perf_counter()
            await asyncio.wait([begun], timeout=max(REFUSED_SECONDS, left))
    except asyncio.CancelledError:
        begun.cancel()
        raise
    if begun.done():
        begun.result()
    headers = reported(request.left_out) | {"content-type": form.TYPE, "cache-control": "no-cache"}
    body = streamed(begun, form, filling=partial(_filling, form, request.model_name, checked))
    return {"headers": headers, "body": body, "result": lambda: form.costs and form.costs.result()}


async def _begin(checked):
    return await (await checked)


async def _is_checked(checked, model):
    """Whether a request has been checked; not, if its model is being loaded for it."""
    while True:
        await asyncio.wait([checked], timeout=HEARD_SECONDS)
        if checked.done() or model in runtime.loading_models():
            return checked.done()


def _filling(form, model, checked):
    """What a client hears in a gap."""
    part = None if checked.done() else runtime.loading_models().get(model)
    return form.SILENCE if part is None else form.loading(model, part)


async def streamed(begun, form, pause=partial(asyncio.sleep, SILENT_SECONDS / 2), filling=None):  # noqa: B008
    """The bytes of a stream. `filling()`, or `SILENCE`, fills its beginning until the prompt has been read, and the gap
    each time that `pause` ends before the next part."""
    is_silent, filling = True, filling or (lambda: form.SILENCE)
    try:
        if not begun.done():
            yield filling()
        async with aclosing(merged([_heard(begun, form), _pauses(pause)], endless=1)) as pieces:
            async for piece in pieces:
                if piece is OPENING:
                    said = form.encode(form.opening()) or form.SILENCE
                elif piece is PAUSE:
                    said = filling() if is_silent else b""
                else:
                    said = form.encode(form.chunks(piece))
                is_silent = piece is PAUSE
                if said:
                    yield said
    except Exception as error:
        yield form.encode(form.failed(refusal_of(error)))
    else:
        yield form.encode(form.closing()) + form.END
    finally:
        begun.cancel()


async def _heard(begun, form):
    """OPENING when the prompt has been read, and then the parts."""
    form.costs, pieces = await begun
    yield OPENING
    async with aclosing(pieces):
        async for piece in pieces:
            yield piece


async def _pauses(pause):
    """PAUSE after each pause."""
    while True:
        await pause()
        yield PAUSE
