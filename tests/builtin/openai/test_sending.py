"""A stream begins at once, and never is silent for long."""

import asyncio

import pytest


class Words:
    """A form whose parts are words."""

    SILENCE = b"..."
    END = b" end"

    def opening(self):
        return ["begin"]

    def chunks(self, piece):
        return [piece] if piece else []

    def closing(self, costs):
        return [costs]

    def failed(self, error):
        return [str(error)]

    def encode(self, values):
        return " ".join(values).encode()


class Reply:
    """A reply whose parts come when they are `let` through; `ended` when it was closed."""

    def __init__(self):
        self.queue, self.ended = asyncio.Queue(), False

    async def pieces(self):
        try:
            while (piece := await self.queue.get()) is not None:
                if isinstance(piece, Exception):
                    raise piece
                yield piece
        finally:
            self.ended = True


@pytest.fixture
def stream(openai_module):
    """The stream of a reply, for which every wait is a silence that is too long."""
    return lambda reply: openai_module("wire")._stream("costs", reply.pieces(), Words(), silent_seconds=0)


async def test_a_stream_begins_before_its_first_part(stream):
    reply = Reply()
    said = stream(reply)
    assert await anext(said) == b"begin"
    await said.aclose()


async def test_a_silence_is_filled_until_a_part_comes(stream):
    reply = Reply()
    said = stream(reply)
    assert [await anext(said) for _ in range(4)] == [b"begin", b"...", b"...", b"..."]
    for piece in ("word", "", None):
        reply.queue.put_nowait(piece)
    rest = [data async for data in said]
    assert [data for data in rest if data != b"..."] == [b"word", b"costs end"]


async def test_what_fails_after_the_beginning_is_told_in_the_stream(stream):
    reply = Reply()
    reply.queue.put_nowait(ValueError("no more"))
    assert [data async for data in stream(reply) if data != b"..."] == [b"begin", b"no more"]


async def test_who_goes_away_during_a_silence_ends_the_reply_and_leaves_no_task(stream):
    before, reply = asyncio.all_tasks(), Reply()
    said = stream(reply)
    assert [await anext(said) for _ in range(2)] == [b"begin", b"..."]
    await said.aclose()
    assert reply.ended
    assert asyncio.all_tasks() == before
