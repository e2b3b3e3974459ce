"""Which requests to the endpoint that comes with the engine are refused, and what a request is on its server."""

import asyncio
import json
import socket
from datetime import date
from functools import partial

import openai
import pytest

from pie_mlx.events import PassCompleted, ProcessFailed, ProcessLaunched, ProcessReturned
from pie_mlx.server import ServerSettings
from tests.server.http.openai.conftest import ADMIN, HELLO, MODEL
from tests.server.running import RunningServer
from tests.server.speaking import hang_up

pytestmark = pytest.mark.timeout(60)

FLAGS = {"type": "array", "items": {"type": "boolean"}, "minItems": 1000}
ENDLESS = {"type": "json_schema", "json_schema": {"name": "flags", "strict": True, "schema": FLAGS}}
"""A reply that no model ends early."""


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"stop": ""}, "stop"),
        ({"stop": ["a", ""]}, "stop[1]"),
        ({"logit_bias": {"5": 300}}, "logit_bias[...]"),
        ({"logit_bias": {"999999": 1}}, "logit_bias"),
        ({"frequency_penalty": 2.5}, "frequency_penalty"),
        ({"presence_penalty": -3}, "presence_penalty"),
        ({"extra_body": {"repetition_penalty": 0}}, "repetition_penalty"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"audio": {"voice": "ash", "format": "mp3"}}, "audio"),
        ({"temperature": 3}, "temperature"),
        ({"top_p": 1.5}, "top_p"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{**HELLO[0], "name": 5}]}, "messages[0].name"),
        ({"messages": [{"role": "tool", "content": "x", "tool_call_id": "1"}]}, "messages[0].tool_call_id"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]},
            "messages[0].content[0].type",
        ),
        ({"extra_body": {"wish": 1}}, "wish"),
        ({"messages": [{**HELLO[0], "cache-control": 1}]}, "messages[0].cache-control"),
        ({"extra_body": {"min_p": 2}}, "min_p"),
        ({"extra_body": {"top_k": 2**64}}, "top_k"),
    ],
)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_what_is_not_supported_is_refused_by_name(ask, fields, param, stream):
    with pytest.raises(openai.BadRequestError) as refused:
        ask(stream=stream, **fields)
    assert refused.value.body["param"] == param
    assert refused.value.body["type"] == "invalid_request_error"


@pytest.mark.parametrize("name", ["wish", "my-wish", "my `wish`", "", "two\nlines"])
def test_an_unknown_field_is_refused_by_its_name_whatever_that_is(ask, name):
    with pytest.raises(openai.BadRequestError) as refused:
        ask(extra_body={name: 1})
    assert refused.value.body["message"] == f"'{name}' is not supported: leave it out"
    assert refused.value.body["code"] == "unsupported_parameter"


def test_fields_that_ask_for_nothing_are_accepted(ask):
    neutral = {"frequency_penalty": 0, "logit_bias": {}, "modalities": ["text"], "store": False, "user": "ada"}
    assert ask(**neutral, metadata={"run": "7"}, extra_body={"top_k": 1, "min_p": 0.1, "suffix": None}).choices


def test_a_hint_that_has_no_effect_is_left_out_and_reported(client):
    hints = {"store": True, "service_tier": "flex", "verbosity": "low"}
    answer = client.chat.completions.with_raw_response.create(model=MODEL, messages=HELLO, max_tokens=1, **hints)
    assert set(answer.headers["x-pie-left-out"].split(", ")) == set(hints)


def test_hints_are_named_in_the_log_once(client, caplog):
    for _ in range(2):
        client.chat.completions.create(model=MODEL, messages=HELLO, max_tokens=1, verbosity="high")
    (entry,) = caplog.records
    assert entry.getMessage() == "left out, because they have no effect here: verbosity"


def test_penalties_and_biases_change_what_is_drawn(ask):  # L7
    def drawn(**fields):
        return ask(temperature=0, max_tokens=6, **fields).choices[0].message.content

    assert drawn(logit_bias={"66": 100}) == 6 * drawn(logit_bias={"66": 100})[0]
    assert len(set(drawn(logit_bias={"66": 100, "67": 99.5}, presence_penalty=1.0))) > 1
    assert drawn(frequency_penalty=0, presence_penalty=0, logit_bias={}) == drawn()


def test_a_top_k_or_limit_beyond_everything_is_none(ask):  # L1, G4
    assert ask(temperature=1, max_tokens=2**70, seed=2**70, extra_body={"top_k": 2**63 - 1}).choices


def test_a_schema_that_cannot_be_enforced_is_refused(ask):
    described = {"name": "odd", "schema": {"type": "array", "contains": {"type": "integer"}}}
    with pytest.raises(openai.BadRequestError, match="contains") as refused:
        ask(response_format={"type": "json_schema", "json_schema": described})
    assert "remove or rewrite it" in refused.value.message
    assert "lenient" not in refused.value.message, "what only a program can do is no advice for a client"


def formatted(name, **options):
    """The description of a schema of texts in a format."""
    return {"name": "text", "strict": True, "schema": {"type": "string", "format": name}, **options}


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses"])
def test_a_format_that_nothing_enforces_is_refused_where_that_is_asked_for(ask, client, path):
    def answer(described):
        if path == "/v1/responses":
            format = {"type": "json_schema", **described}
            options = {"temperature": 0, "max_output_tokens": 60, "text": {"format": format}}
            return client.responses.create(model=MODEL, input="When?", **options).output_text
        asked = {"type": "json_schema", "json_schema": described}
        return ask("When?", response_format=asked).choices[0].message.content

    with pytest.raises(openai.BadRequestError, match=r"\$\.format: is not enforceable"):
        answer(formatted("regex", known_formats=True))
    assert date.fromisoformat(json.loads(answer(formatted("date", known_formats=True))))
    assert answer(formatted("regex"))


def test_separators_leave_no_other_blanks_in_the_json(ask):
    schema = {"type": "object", "properties": {"name": {"const": "x"}, "ok": {"const": True}}}
    described = {
        "name": "fixed",
        "strict": True,
        "schema": {**schema, "required": ["name", "ok"]},
        "separators": [",", ":"],
    }
    answer = ask("Go.", response_format={"type": "json_schema", "json_schema": described})
    assert answer.choices[0].message.content == '{"name":"x","ok":true}'
    assert answer.choices[0].finish_reason == "stop"


def test_an_unknown_model_is_not_found(ask):
    with pytest.raises(openai.NotFoundError, match="there is pie-tiny") as refused:
        ask(model="gpt-4")
    assert refused.value.code == "model_not_found"


def test_a_prompt_longer_than_the_context_is_refused(ask):
    with pytest.raises(openai.BadRequestError, match="maximum context length is 4096 tokens") as refused:
        ask("word " * 5000)
    assert refused.value.code == "context_length_exceeded"


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"model": "pie-tiny"}', b"\xff"])
async def test_a_body_that_is_no_request_is_refused(server, body):
    status, answer = await raw(server, b"POST", b"/v1/chat/completions", body)
    assert status == 400
    assert json.loads(answer)["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [(b"GET", b"/v1/chat/completions", 405), (b"POST", b"/v1/models", 405), (b"POST", b"/v1/moderations", 404)],
)
async def test_other_paths_and_methods_are_refused(server, method, path, status):
    found, answer = await raw(server, method, path, b"{}")
    assert found == status
    assert json.loads(answer)["error"]["message"]


async def test_a_client_that_goes_away_ends_its_process_without_a_word(server, caplog):
    server.seen()
    body = {"model": MODEL, "prompt": "a", "max_tokens": 4000, "temperature": 2, "seed": 1, "stream": True}
    reader, writer = await send(server, b"POST", b"/v1/completions", json.dumps(body).encode())
    await reader.readuntil(b"data: ")
    writer.transport.abort()
    failed = await asyncio.to_thread(server.wait_for, ProcessFailed | ProcessReturned)
    assert isinstance(failed, ProcessFailed)
    assert failed.message == "the client has gone"
    server.seen()
    assert caplog.records == []


async def test_a_request_is_a_process_that_is_listed_and_can_be_ended(server, caplog):
    server.seen()
    registry = server.server.service.registry
    body = {"model": MODEL, "prompt": "a", "max_tokens": 4000, "temperature": 2, "seed": 1, "stream": True}
    reader, writer = await send(server, b"POST", b"/v1/completions", json.dumps(body).encode())
    head = (await reader.readuntil(b"data: ")).decode().lower()
    (record,) = registry.records(ADMIN)
    assert (record.username, record.program.identity, record.state) == ("local", "openai@1.0.0", "running")
    listed = json.loads(record.input_text)
    assert listed["path"] == "/v1/completions"
    assert f"x-request-id: {listed['request_id']}\r\n" in head
    server.loop.call_soon_threadsafe(registry.terminate, record)
    rest = await reader.read()
    assert b"[DONE]" not in rest
    await asyncio.to_thread(server.wait_for, ProcessFailed)
    assert registry.records(ADMIN, all=True) == []
    await hang_up(writer)
    (entry,) = caplog.records
    ended = "it was ended by 'pie kill' or another client"
    assert entry.getMessage() == f"POST /v1/completions: the answer breaks off: {ended}"
    assert entry.exc_info is None


async def test_a_request_that_is_ended_before_it_is_answered_is_told_so_and_not_sent_again(server):
    server.seen()
    registry = server.server.service.registry
    async with openai.AsyncOpenAI(base_url=f"{server.http}/v1", api_key="any", max_retries=2) as client:
        asking = asyncio.create_task(
            client.chat.completions.create(model=MODEL, messages=HELLO, max_tokens=4000, response_format=ENDLESS)
        )
        await asyncio.to_thread(server.wait_for, PassCompleted)
        (record,) = registry.records(ADMIN)
        server.loop.call_soon_threadsafe(registry.terminate, record)
        with pytest.raises(openai.InternalServerError) as refused:
            await asking
    assert refused.value.status_code == 503
    assert refused.value.body["message"].endswith("it was ended by 'pie kill' or another client")
    assert not any(isinstance(event, ProcessLaunched) for event in server.seen())


async def test_requests_run_at_once_each_in_a_process_of_its_own(server):
    server.seen()
    async with openai.AsyncOpenAI(base_url=f"{server.http}/v1", api_key="any", max_retries=0) as client:
        messages = [{"role": "user", "content": "Say hello"}]
        create = partial(client.chat.completions.create, model=MODEL, messages=messages, temperature=0, max_tokens=8)
        answers = await asyncio.gather(*(create() for _ in range(8)))
    assert len({answer.choices[0].message.content for answer in answers}) == 1
    launched = {event.process for event in server.seen() if isinstance(event, ProcessLaunched)}
    assert len(launched) == 8


def test_with_authentication_on_the_token_is_the_key(tmp_path):
    locked = RunningServer(tmp_path, ServerSettings(port=0, authentication=True), announces=False).start()
    try:
        options = {"base_url": f"{locked.http}/v1", "max_retries": 0}
        with openai.OpenAI(api_key=locked.server.token, **options) as client:
            assert [model.id for model in client.models.list()] == ["dummy"]
        with openai.OpenAI(api_key="wrong", **options) as client, pytest.raises(openai.AuthenticationError):
            client.models.list()
    finally:
        locked.stop()


async def send(server, method, path, body):
    host, port = server.url.removeprefix("ws://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), family=socket.AF_INET)
    head = b"%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
    writer.write(head % (method, path, len(body)) + body)
    return reader, writer


async def raw(server, method, path, body):
    """Status and body of an answer."""
    reader, writer = await send(server, method, path, body)
    answer = await reader.read()
    await hang_up(writer)
    head, _, rest = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), rest
