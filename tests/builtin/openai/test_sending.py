"""A stream begins at once, and never is silent for long."""

import asyncio
import time
from types import SimpleNamespace

import pytest


class Words:
    """A form whose parts are words."""

    TYPE = "text/words"
    costs = None
    SILENCE = b"..."
    END = b" end"

    def loading(self, model, part):
        return f"{model} {part}".encode()

    def opening(self):
        return ["begin"]

    def chunks(self, piece):
        return [piece] if piece else []

    def closing(self):
        return [self.costs]

    def whole(self, pieces):
        return " ".join([*pieces, str(self.costs)])

    def failed(self, error):
        return [str(error)]

    def encode(self, values):
        return " ".join(values).encode()


class Costs:
    """What the replies cost."""

    result = None

    def __str__(self):
        return "costs"


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
    """The stream of a reply whose prompt has been read."""

    def begin(reply):
        begun = asyncio.get_running_loop().create_future()
        begun.set_result(("costs", reply.pieces()))
        return openai_module("sending").streamed(begun, Words(), clock.get)

    return begin


@pytest.fixture
def answer(openai_module):
    """The answer to a request whose prompt is read by `beginning`."""

    async def send(beginning, *, stream=True, seconds_ago=0, loading=None):
        begun = time.perf_counter() - seconds_ago
        request = SimpleNamespace(stream=stream, left_out=["hint"], begun=begun, model_name="big")

        async def checking():
            if loading:
                await loading.wait()
            return beginning

        return await openai_module("sending").send(request, Words(), checking())

    return send


async def refused():
    raise ValueError("too long")


async def test_a_stream_begins_before_its_first_part(stream):
    said = stream(Reply())
    assert await anext(said) == b"begin"
    await said.aclose()


async def test_each_pause_without_a_part_is_filled(stream, clock):
    reply = Reply()
    said = stream(reply)
    assert await anext(said) == b"begin"
    clock.put_nowait("over, but the beginning was in it")
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
    for _ in range(2):
        clock.put_nowait("over")
    assert [await anext(said) for _ in range(2)] == [b"begin", b"..."]
    await said.aclose()
    assert reply.ended
    assert asyncio.all_tasks() == before


async def test_a_prompt_that_is_refused_at_once_is_no_stream(answer):
    with pytest.raises(ValueError, match="too long"):
        await answer(refused())


@pytest.fixture
def loading_models(openai_module, monkeypatch):
    """What the engine says of the models that it loads."""
    found = {}
    monkeypatch.setattr(openai_module("sending").runtime, "loading_models", lambda: found)
    return found


async def test_a_stream_says_how_much_of_its_model_is_there_while_that_is_loaded(answer, loading_models):
    reply, loading = Reply(), asyncio.Event()
    for piece in ("word", None):
        reply.queue.put_nowait(piece)

    async def beginning():
        return "costs", reply.pieces()

    loading_models["big"] = 0.4
    said = (await answer(beginning(), loading=loading))["body"]
    assert await anext(said) == b"big 0.4"
    loading_models.clear()
    loading.set()
    assert [data async for data in said] == [b"begin", b"word", b"costs end"]


async def test_what_is_wrong_with_a_request_is_no_stream_however_long_it_takes_to_find(
    answer, openai_module, monkeypatch
):
    loading, asked = asyncio.Event(), []

    def loading_models():
        asked.append(True)
        if len(asked) == 2:
            loading.set()
        return {"another": 0.4}

    monkeypatch.setattr(openai_module("sending").runtime, "loading_models", loading_models)
    with pytest.raises(ValueError, match="too long"):
        await answer(refused(), loading=loading)


async def test_a_stream_begins_before_a_long_prompt_has_been_read(answer):
    reply, read = Reply(), asyncio.Event()
    for piece in ("word", None):
        reply.queue.put_nowait(piece)

    async def beginning():
        await read.wait()
        return "costs", reply.pieces()

    begun = await answer(beginning())
    assert begun["headers"]["x-pie-left-out"] == "hint"
    said = begun["body"]
    assert await anext(said) == b"..."
    read.set()
    assert [data async for data in said] == [b"begin", b"word", b"costs end"]


async def test_the_time_in_which_the_body_was_read_is_part_of_the_wait(answer, openai_module, monkeypatch):
    monkeypatch.setattr(openai_module("sending"), "HEARD_SECONDS", 3600)
    before = asyncio.all_tasks()
    said = (await answer(asyncio.Event().wait(), seconds_ago=7200))["body"]
    assert await anext(said) == b"..."
    await said.aclose()
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before, "a client that goes away at the first comment ends that"


async def test_a_long_prompt_that_is_refused_late_is_refused_in_the_stream(answer):
    read = asyncio.Event()

    async def beginning():
        await read.wait()
        await refused()

    begun = await answer(beginning())
    said = begun["body"]
    assert await anext(said) == b"..."
    read.set()
    assert [data async for data in said] == [b"too long"]
    assert begun["result"]() is None


async def test_a_client_that_goes_away_while_its_prompt_is_read_ends_that(answer):
    before, beginning = asyncio.all_tasks(), asyncio.Event().wait()
    said = (await answer(beginning))["body"]
    assert await anext(said) == b"..."
    going = asyncio.create_task(anext(said))
    await asyncio.sleep(0)
    going.cancel()
    await asyncio.gather(going, return_exceptions=True)
    assert asyncio.all_tasks() == before


async def test_who_asks_for_no_stream_waits_for_all_of_it(answer):
    reply = Reply()
    for piece in ("word", None):
        reply.queue.put_nowait(piece)

    async def beginning():
        return Costs(), reply.pieces()

    assert (await answer(beginning(), stream=False))["body"] == b'"word costs"'
