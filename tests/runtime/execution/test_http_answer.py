"""Programs that answer requests, with an exchange instead of a server."""

import asyncio
import gc
import json

import pytest
import pytest_asyncio

from inferlet import session
from pie_mlx.calls import HttpRequest
from pie_mlx.errors import (
    InvalidArgumentError,
    InvalidTypeError,
    LaunchError,
    ProcessCancelledError,
    SessionClosedError,
)
from pie_mlx.runtime.daemon import HttpExchange
from pie_mlx.runtime.daemon.exchange import WINDOW_BYTES
from pie_mlx.runtime.engine import Engine
from pie_mlx.runtime.execution.http_answer import answer_request

REQUEST = HttpRequest("POST", "/a/b", "x=1&y=%20&x=2", [("accept", "a"), ("accept", "b"), ("cookie", "c")], b"\x00\xff")


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine():
    async with Engine(dummy=True, total_pages=16) as running:
        yield running


@pytest.fixture
def serve(engine):
    """Status, headers and pieces of what a handler answers."""

    async def ask(handle, input=None):
        async def main(given):
            return await answer_request(handle, given)

        exchange = HttpExchange(REQUEST)
        process = await engine.launch(main, input or {}, http=exchange)
        ending = asyncio.create_task(ended(exchange, process))
        status, headers = await exchange.head()
        pieces = [piece async for piece in exchange.body()]
        await ending
        return status, dict(headers), pieces

    return ask


async def ended(exchange, process):
    error = getattr(await process.outcome(), "error", None)
    exchange.end(error)


@pytest.mark.parametrize("counts", [lambda sent: {"sent": list(sent)}, lambda sent: lambda: {"sent": list(sent)}])
async def test_a_process_returns_the_result_of_its_answer(engine, counts):
    sent = ["before"]

    async def pieces():
        yield b"a"
        sent.append("piece")

    async def handle(request):
        return {"status": 202, "body": pieces(), "result": counts(sent)}

    async def main(given):
        return await answer_request(handle, given)

    events = []
    process = await engine.launch(main, {}, http=HttpExchange(REQUEST), on_event=events.append)
    expected = ["before", "piece"] if callable(counts(sent)) else ["before"]
    assert await process.result() == {"sent": expected}
    assert events[-1].status == 202


async def test_a_handler_sees_the_request_and_the_input(serve):
    async def handle(request, input):
        return {"body": [*map(str, request.values()), input["n"]]}

    _, headers, pieces = await serve(handle, {"n": 3})
    query, fields, body = "{'x': '2', 'y': ' '}", "{'accept': 'a, b', 'cookie': 'c'}", r"b'\x00\xff'"
    assert json.loads(b"".join(pieces)) == ["POST", "/a/b", query, fields, body, 3]  # 1.6
    assert headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("body", "data", "kind"),
    [
        ("é", "é".encode(), "text/plain; charset=utf-8"),
        (b"\x01", b"\x01", "application/octet-stream"),
        ({"a": 1}, b'{"a": 1}', "application/json"),
        (None, b"", "text/plain; charset=utf-8"),
    ],
)
async def test_bodies_are_text_bytes_or_json(serve, body, data, kind):
    async def handle(request):
        return {"status": 201, "headers": {"X-A": "b"}, "body": body}

    status, headers, pieces = await serve(handle)
    assert (status, b"".join(pieces)) == (201, data)
    assert headers == {"content-type": kind, "x-a": "b", "content-length": str(len(data))}


async def test_an_iterator_streams_in_order(serve):
    async def handle(request):
        async def pieces():
            for number in range(50):
                yield f"{number},"

        return {"headers": {"Content-Type": "text/csv"}, "body": pieces()}

    _, headers, pieces = await serve(handle)
    assert b"".join(pieces).decode() == "".join(f"{n}," for n in range(50))
    assert headers == {"content-type": "text/csv"}


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (3, InvalidTypeError),
        ({"code": 1}, InvalidTypeError),
        ({"status": "ok"}, InvalidTypeError),
        ({"status": 99}, InvalidArgumentError),
        ({"headers": {"x": "a\r\nb"}}, InvalidArgumentError),
        ({"body": object()}, InvalidTypeError),
    ],
)
async def test_what_is_no_answer_fails(serve, answer, error):
    async def handle(request):
        return answer

    with pytest.raises(error):
        await serve(handle)


async def test_a_handler_takes_one_argument_or_two(serve):
    async def handle(a, b, c):
        return {}

    with pytest.raises(LaunchError):
        await serve(handle)


async def test_a_failure_in_the_middle_breaks_the_stream(serve):
    async def handle(request):
        async def pieces():
            yield "some"
            raise ValueError("no more")

        return {"body": pieces()}

    with pytest.raises(ValueError, match="no more"):
        await serve(handle)


async def test_a_process_without_a_request_has_none(engine):
    async def main(input):
        await answer_request(main, input)

    with pytest.raises(SessionClosedError):
        await engine.run(main)


async def test_a_slow_reader_makes_the_program_wait(engine):
    count = 40

    async def handle(request):
        async def pieces():
            for number in range(count):
                session.send(str(number))
                yield bytes(WINDOW_BYTES // 4)

        return {"body": pieces()}

    async def main(input):
        await answer_request(handle, input)

    exchange, made, begun = HttpExchange(REQUEST), [], asyncio.Event()

    def note(number):
        made.append(number)
        begun.set()

    process = await engine.launch(main, {}, http=exchange, on_message=note)
    ending = asyncio.create_task(ended(exchange, process))
    await begun.wait()
    for _ in range(1000):
        await asyncio.sleep(0)
    assert len(made) < 10
    read = sum([len(piece) async for piece in exchange.body()])
    await ending
    assert read == count * WINDOW_BYTES // 4


async def test_a_stream_that_is_cancelled_leaves_no_piece_on_its_way(engine):
    unheard, exchange, waits = [], HttpExchange(REQUEST), asyncio.Event()

    async def handle(request):
        async def pieces():
            yield bytes(2 * WINDOW_BYTES)
            session.send("waits")
            await asyncio.Event().wait()

        return {"body": pieces()}

    async def main(input):
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: unheard.append(context["message"]))
        before = asyncio.all_tasks()
        answering = asyncio.create_task(answer_request(handle, input))
        await session.receive()
        answering.cancel()
        await asyncio.wait([answering])
        left = len(asyncio.all_tasks() - before)
        del answering
        gc.collect()
        return left

    process = await engine.launch(main, {}, http=exchange, on_message=lambda text: waits.set())
    await waits.wait()
    exchange.hang_up()
    process.send("cancel")
    assert await process.result() == 0
    assert unheard == []


async def test_a_client_that_hangs_up_stops_a_program_that_writes(engine):
    async def handle(request):
        async def pieces():
            while True:
                yield bytes(WINDOW_BYTES)

        return {"body": pieces()}

    async def main(input):
        await answer_request(handle, input)

    exchange = HttpExchange(REQUEST)
    process = await engine.launch(main, {}, http=exchange)
    await exchange.head()
    exchange.hang_up()
    with pytest.raises((SessionClosedError, ProcessCancelledError)):
        await process.result()
