"""Talking to the client, and reading the market."""

import math
from typing import Any

import pytest

from inferlet import Context, Model, scheduling, session
from pie_mlx import calls
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError, SessionClosedError
from tests.inferlet.toy_host import ToyHost


def test_text_is_sent_as_it_is_and_the_rest_as_json(host: ToyHost, model: Model) -> None:  # I3
    session.send("hello")
    session.send({"a": [1, None]})
    assert host.sent(calls.SendMessage) == [
        calls.SendMessage("hello"),
        calls.SendMessage('{"a":[1,null]}', "json"),
    ]


def test_what_json_cannot_hold_is_refused(model: Model) -> None:
    with pytest.raises(InvalidTypeError):
        session.send(object())


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_has_no_words_for_are_refused(host: ToyHost, ctx: Context, number: float) -> None:
    with pytest.raises(InvalidTypeError, match=r"session\.send: .*not JSON"):
        session.send({"a": [1, number]})
    with pytest.raises(InvalidTypeError, match=r"tool result: .*not JSON"):
        ctx.answer_tool("f", [number])
    assert host.sent(calls.SendMessage) == []


async def test_what_was_not_awaited_is_refused_with_that_word(model: Model) -> None:
    forgotten = session.receive()
    with pytest.raises(InvalidTypeError, match="the coroutine has not been awaited") as refused:
        session.send(forgotten)
    assert refused.value.hint == "write 'await' before it"
    forgotten.close()


def test_text_that_is_not_unicode_is_refused(model: Model) -> None:
    with pytest.raises(InvalidArgumentError, match="not Unicode text"):
        session.send("\ud800")


def test_files_are_bytes(host: ToyHost, model: Model) -> None:  # I3
    session.send_file(bytearray(b"data"), name="a.bin")
    assert host.sent(calls.SendFile) == [calls.SendFile(b"data", "a.bin")]


@pytest.mark.parametrize("data", [5, [1, 2, 3], "text", None], ids=repr)
def test_a_file_is_nothing_but_bytes(host: ToyHost, model: Model, data: Any) -> None:
    with pytest.raises(InvalidTypeError, match="send_file"):
        session.send_file(data)
    assert host.sent(calls.SendFile) == []


async def test_messages_arrive_in_order(host: ToyHost, model: Model) -> None:  # I3
    host.inbox += ["one", "two"]
    host.files.append(b"data")
    assert [await session.receive(), await session.receive()] == ["one", "two"]
    assert await session.receive_file() == b"data"
    with pytest.raises(SessionClosedError):
        await session.receive()


def test_the_market_is_read(ctx: Context, model: Model) -> None:  # M14
    # The figures are those that ToyHost answers.
    assert (scheduling.balance(model), scheduling.dividend(model)) == (12.5, 0.125)
    assert (scheduling.rent(ctx), scheduling.latency(ctx), scheduling.price()) == (0.5, 0.25, 1.0)
