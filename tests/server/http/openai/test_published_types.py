"""Every endpoint answers, whole and in a stream, with objects of the types that its vendor publishes."""

import functools
import json
from typing import Literal

import httpx
import pytest
from anthropic.types import ErrorResponse, MessageTokensCount, ModelInfo
from anthropic.types.beta import BetaMessage, BetaRawMessageStreamEvent
from ollama import (
    ChatResponse,
    EmbeddingsResponse,
    EmbedResponse,
    GenerateResponse,
    ListResponse,
    ProcessResponse,
    ShowResponse,
)
from openai.types import Completion, CompletionChoice, CreateEmbeddingResponse, Model
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import InputTokenCountResponse, Response, ResponseStreamEvent
from openai.types.shared import ErrorObject
from pydantic import TypeAdapter

from tests.server.http.openai.conftest import HELLO, MODEL, WEATHER

pytestmark = pytest.mark.timeout(60)


class PartChoice(CompletionChoice):
    finish_reason: Literal["stop", "length"] | None


class CompletionPart(Completion):
    """The published type wants a reason to end of each part; OpenAI itself sends one only at the end."""

    choices: list[PartChoice]


TOOL = {"type": "function", **WEATHER["function"], "strict": True}
CHAT = {"messages": HELLO, "max_tokens": 4, "temperature": 0}
SCORED = {"prompt": ["Hello", "What is"], "max_tokens": 4, "temperature": 0, "logprobs": 2, "n": 2}
ANSWERS = {
    "/v1/chat/completions": (
        {**CHAT, "logprobs": True, "top_logprobs": 2, "n": 2, "stream_options": {"include_usage": True}},
        ChatCompletion,
        ChatCompletionChunk,
    ),
    "/v1/completions": (SCORED, Completion, CompletionPart),
    "/v1/embeddings": ({"input": ["Hello", "there"]}, CreateEmbeddingResponse, None),
    "/v1/messages": ({**CHAT, "stop_sequences": ["!"]}, BetaMessage, BetaRawMessageStreamEvent),
    "/v1/messages/count_tokens": ({"messages": HELLO}, MessageTokensCount, None),
    "/v1/responses": (
        {"input": HELLO, "max_output_tokens": 4, "include": ["message.output_text.logprobs"], "top_logprobs": 2},
        Response,
        ResponseStreamEvent,
    ),
    "/v1/responses/input_tokens": ({"input": HELLO}, InputTokenCountResponse, None),
    "/api/chat": ({"messages": HELLO, "options": {"num_predict": 4}, "logprobs": True}, ChatResponse, ChatResponse),
    "/api/generate": ({"prompt": "Hello", "options": {"num_predict": 4}}, GenerateResponse, GenerateResponse),
    "/api/embed": ({"input": "Hello"}, EmbedResponse, None),
    "/api/embeddings": ({"prompt": "Hello"}, EmbeddingsResponse, None),
    "/api/show": ({}, ShowResponse, None),
    "/api/tags": (None, ListResponse, None),
    "/api/ps": (None, ProcessResponse, None),
}
ASKED = [{"role": "user", "content": "What is the weather in Paris?"}]
SAID = {
    "/v1/chat/completions": ({"messages": ASKED, "tools": [WEATHER]}, "max_tokens"),
    "/v1/messages": (
        {"messages": ASKED, "tools": [{"name": "weather", "input_schema": WEATHER["function"]["parameters"]}]},
        "max_tokens",
    ),
    "/v1/responses": ({"input": ASKED, "tools": [TOOL]}, "max_output_tokens"),
}
REFUSED = {f"/api/{name}" for name in ("pull", "push", "create", "copy", "delete")}
UNTYPED = {"/api/version", "/v1/rerank", "/v1/responses/compact"} | REFUSED
"""They have no published type: a version, what no client of OpenAI asks for, and refusals."""


@pytest.fixture
def answered(server):
    """The objects of an answer, without pings, which the published types leave out."""

    def ask(path, body, **headers):
        method = "GET" if body is None else "POST"
        answer = httpx.request(method, f"{server.http}{path}", json=body, headers=headers, timeout=60)
        lines = answer.text.splitlines()
        if answer.headers["content-type"].startswith("text/event-stream"):
            lines = [line.removeprefix("data: ") for line in lines if line.startswith("data: {")]
        return [found for line in lines if (found := json.loads(line)) != {"type": "ping"}]

    return ask


adapter = functools.cache(TypeAdapter)


def check(found, kind):
    for one in found:
        adapter(kind).validate_json(json.dumps(one), strict=True)


def test_every_endpoint_is_checked_here(answered):
    ((refused,),) = [answered("/v1/nothing", None)]
    named = refused["error"]["message"].partition("there are ")[2].split(", ")
    assert set(named) == ANSWERS.keys() | UNTYPED | {"/v1/models"}


@pytest.mark.parametrize("path", ANSWERS)
def test_a_whole_answer_is_of_the_published_type(answered, path):
    body, whole, part = ANSWERS[path]
    asked = {"model": MODEL, **body, **({"stream": False} if part else {})} if body is not None else None
    (found,) = answered(path, asked)
    check([found], whole)


@pytest.mark.parametrize("path", [path for path, (*_, part) in ANSWERS.items() if part])
def test_all_parts_of_a_stream_are_of_the_published_type(answered, path):
    body, _, part = ANSWERS[path]
    found = answered(path, {"model": MODEL, "stream": True, **body})
    assert len(found) > 2
    check(found, part)


@pytest.mark.parametrize("limit", [3, 12, 60])
@pytest.mark.parametrize("path", SAID)
def test_calls_whole_and_cut_are_of_the_published_type(answered, path, limit):
    (more, field), (_, whole, part) = SAID[path], ANSWERS[path]
    body = {"model": MODEL, "temperature": 0, **more, field: limit}
    check(answered(path, body), whole)
    check(answered(path, {**body, "stream": True}), part)


@pytest.mark.parametrize(("path", "system"), [("/v1/messages", "system"), ("/v1/responses", "instructions")])
def test_thoughts_are_of_the_published_type(answered, path, system):
    (more, field), (_, whole, part) = SAID[path], ANSWERS[path]
    body = {"model": MODEL, **more, "tools": [], field: 12, "temperature": 0, system: "Think before you answer."}
    (found,) = answered(path, body)
    kinds = {one["type"] for one in found.get("content") or found["output"]}
    assert kinds <= {"thinking", "reasoning"}, "it thinks first"
    check([found], whole)
    check(answered(path, {**body, "stream": True}), part)


def test_models_are_of_both_published_types(answered):
    ((listed,), (one,)) = (answered(path, None) for path in ("/v1/models", f"/v1/models/{MODEL}"))
    for kind in (Model, ModelInfo):
        check([one, *listed["data"]], kind)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses"])
def test_a_refusal_of_openais_endpoints_is_of_the_published_type(answered, path):
    (refused,) = answered(path, {"model": "other", **ANSWERS[path][0]})
    check([refused["error"]], ErrorObject)


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/count_tokens"])
def test_a_refusal_of_anthropics_endpoints_is_of_the_published_type(answered, path):
    check(answered(path, {"model": "other", **ANSWERS[path][0]}), ErrorResponse)
    check(answered(path, {"wish": 1}), ErrorResponse)


def test_what_is_kept_of_a_response_is_of_the_published_type(answered):
    (whole,) = answered("/v1/responses", {"model": MODEL, **ANSWERS["/v1/responses"][0]})
    check(answered(f"/v1/responses/{whole['id']}", None), Response)
