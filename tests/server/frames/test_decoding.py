"""Frames that are not as they should be, over a real socket."""

import contextlib

import msgspec
import pytest
from websockets.exceptions import ConnectionClosed

from tests.server.speaking import speak

pytestmark = pytest.mark.timeout(30)


@pytest.fixture
async def speaker(server):
    async with await speak(server, "ada") as speaker:
        yield speaker


async def test_an_unknown_type_is_answered(speaker):
    assert await speaker.ask("nonsense") == (False, "Unknown message type 'nonsense'")  # 1.1


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"subject": 1, "record": ""}, "Invalid message 'query': subject: Expected `str`, got `int`"),
        ({"record": ""}, "Invalid message 'query': subject: missing"),
    ],
)
async def test_a_wrong_field_is_named(speaker, fields, reason):
    assert await speaker.ask("query", **fields) == (False, reason)


async def test_unknown_keys_are_ignored(speaker):
    assert await speaker.ask("ping", more={"of": ["it", 1.5, b"", None, -1, 1 << 40]}) == (True, "Pong")


def nested(levels):
    value = 0
    for _ in range(levels):
        value = [value, {"in": value}] if isinstance(value, int) else [value]
    return value


async def test_what_nobody_reads_may_be_nested_so_deep(speaker):
    assert await speaker.ask("ping", more=nested(14)) == (True, "Pong")
    ok, result = await speaker.ask("ping", more=nested(16))
    assert (ok, result) == (False, "Invalid message 'ping': more: nested deeper than 16 levels")  # 8.3


async def test_what_nobody_reads_may_not_be_long(speaker):
    ok, result = await speaker.ask("ping", more=list(range(40_000)))
    assert (ok, result) == (False, "Invalid message 'ping': more: unknown, and longer than 64 KiB")


async def test_a_nested_frame_that_cannot_be_answered_closes_the_connection(speaker):
    frame = {"type": "signal_process", "process_id": "", "message": "", "more": nested(40)}
    await speaker.socket.send(msgspec.msgpack.encode(frame))
    assert (await speaker.closed())[0] == 1007


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\xc1",
        b"\xff" * 100,
        msgspec.msgpack.encode([1, 2]),
        msgspec.msgpack.encode({"corr_id": 1}),
        msgspec.msgpack.encode({"type": 5, "corr_id": 1}),
        msgspec.msgpack.encode({"type": "ping"}),
        msgspec.msgpack.encode({"type": "ping", "corr_id": -1}),
        msgspec.msgpack.encode({"type": "ping", "corr_id": 1 << 32}),
        msgspec.msgpack.encode({"type": "signal_process", "process_id": 1, "message": ""}),
        b"\x82\xa4type\xa4ping\xa7corr_id",
        b"\x91" * 100_000,
        b"\x82\xa4type\xa5query\xa6record\xa2\xff\xfe",
    ],
)
async def test_what_cannot_be_answered_closes_the_connection(speaker, frame):
    await speaker.socket.send(frame)
    code, reason = await speaker.closed()
    assert code == 1007
    assert reason


async def test_a_text_frame_closes_the_connection(speaker):
    await speaker.socket.send("text")
    assert (await speaker.closed())[0] == 1003


async def test_a_frame_that_is_too_long_closes_the_connection(server):
    async with await speak(server, "ada") as speaker:
        with contextlib.suppress(ConnectionClosed):
            await speaker.socket.send(bytes((16 << 20) + 1))
        assert (await speaker.closed())[0] == 1009


async def test_a_fragmented_frame_is_put_together(speaker):
    frame = msgspec.msgpack.encode({"type": "ping", "corr_id": 99})
    await speaker.socket.send([frame[:3], frame[3:]])
    assert await speaker.answer(99) == (True, "Pong")


async def test_frames_take_effect_in_order(speaker):
    numbers = [await speaker.begin("ping") for _ in range(200)]
    for number in numbers:
        assert await speaker.answer(number) == (True, "Pong")


async def test_workflows_are_refused(speaker):
    ok, result = await speaker.ask("submit_workflow", workflow={})
    assert (ok, result) == (False, "workflows are not supported: use runtime.launch in an inferlet")


async def test_an_answer_that_is_too_long_names_paging(server, speaker):
    process = await speaker.launch({"do": "value", "value": '"' * 600_000})
    await speaker.events(process)
    ok, result = await speaker.ask("query", subject="process_result", record=f'{{"process_id": "{process}"}}')
    assert not ok
    assert result.startswith("the answer is 1200")
    assert "paging options" in result


async def test_a_result_that_is_too_long_is_an_error_event(speaker):
    process = await speaker.launch({"do": "value", "value": "é" * 600_000})
    assert (await speaker.events(process))[-1]["value"].startswith("return value is 1200000 bytes")


@pytest.mark.parametrize(
    "more",
    [
        {f"{number}": number for number in range(70_000)},
        {"inputs": [""] * 70_000},
        {"args": [[]] * 5_000},
    ],
    ids=["fields", "texts", "lists"],
)
async def test_a_frame_of_too_many_values_closes_the_connection(speaker, more):
    await speaker.socket.send(msgspec.msgpack.encode({"type": "ping", "corr_id": 1, **more}))
    assert (await speaker.closed())[0] == 1007


async def test_an_input_of_too_many_values_is_answered(speaker):
    text = '{"a": [' + "[]," * 300_000 + "0]}"
    ok, result = await speaker.ask("launch_process", inferlet="nothing", input=text)
    assert not ok
    assert await speaker.ask("ping") == (True, "Pong"), result
