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
def clock():
    """Each thing in it is a pause that is over."""
    return asyncio.Queue()


@pytest.fixture
def stream(openai_module, clock):
    """The stream of a reply."""
    return lambda reply: openai_module("wire").streamed("costs", reply.pieces(), Words(), clock.get)


async def test_a_stream_begins_before_its_first_part(stream):
    said = stream(Reply())
    assert await anext(said) == b"begin"
    await said.aclose()


async def test_each_pause_without_a_part_is_filled(stream, clock):
    reply = Reply()
    said = stream(reply)
    assert await anext(said) == b"begin"
    for _ in range(3):
        clock.put_nowait("over")
        assert await anext(said) == b"..."
    reply.queue.put_nowait("word")
    assert await anext(said) == b"word"
    clock.put_nowait("over, but there was a word in it")
    clock.put_nowait("over")
    assert await anext(said) == b"..."
    for piece in ("", "last", None):
        reply.queue.put_nowait(piece)
    assert [data async for data in said] == [b"last", b"costs end"]


async def test_what_fails_after_the_beginning_comes_in_the_stream(stream):
    reply = Reply()
    reply.queue.put_nowait(ValueError("no more"))
    assert [data async for data in stream(reply)] == [b"begin", b"no more"]


async def test_who_goes_away_during_a_pause_ends_the_reply_and_leaves_no_task(stream, clock):
    before, reply = asyncio.all_tasks(), Reply()
    said = stream(reply)
    clock.put_nowait("over")
    assert [await anext(said) for _ in range(2)] == [b"begin", b"..."]
    await said.aclose()
    assert reply.ended
    assert asyncio.all_tasks() == before
