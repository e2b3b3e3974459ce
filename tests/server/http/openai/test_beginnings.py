"""A stream begins before a long prompt has been read; what is wrong with the prompt then comes in the stream."""

import sys

import anthropic
import httpx
import ollama
import openai
import pytest

from tests.server.http.openai.conftest import MODEL

pytestmark = pytest.mark.timeout(60)

LONG = [{"role": "user", "content": "word " * 830}]
TOO_LONG = [{"role": "user", "content": "word " * 5000}]
TEXT = "word " * 5000
GREEDY = {"temperature": 0}
"""What is drawn at random may end sooner."""
PATHS = {
    "/v1/chat/completions": {"messages": LONG, "max_tokens": 2},
    "/v1/completions": {"prompt": TEXT[:5000], "max_tokens": 2},
    "/v1/responses": {"input": LONG, "max_output_tokens": 2},
    "/v1/messages": {"messages": LONG, "max_tokens": 2},
    "/api/chat": {"messages": LONG, "options": {"num_predict": 2}},
    "/api/generate": {"prompt": TEXT[:5000], "options": {"num_predict": 2}},
}


@pytest.fixture
def impatient(server, monkeypatch):
    """No prompt that is read on another thread is waited for."""
    for name, module in list(sys.modules.items()):
        if name.endswith(".sending") and hasattr(module, "HEARD_SECONDS"):
            monkeypatch.setattr(module, "HEARD_SECONDS", 0)
            monkeypatch.setattr(module, "REFUSED_SECONDS", 0)


def first_bytes(server, path, body):
    with httpx.stream("POST", f"{server.http}{path}", json={"model": MODEL, "stream": True, **body}) as answer:
        assert answer.status_code == 200
        return next(answer.iter_raw())


@pytest.mark.parametrize("path", PATHS)
def test_the_first_bytes_say_that_the_prompt_is_being_read(impatient, server, path):
    first = first_bytes(server, path, PATHS[path])
    silence = b": \n\n" if path.startswith("/v1") else b'"done":false}\n'
    assert first.startswith(b"event: ping") if path == "/v1/messages" else first.endswith(silence)


@pytest.mark.parametrize("path", PATHS)
def test_a_stream_says_something_before_its_first_token(server, path):
    assert first_bytes(server, path, {**PATHS[path], **({"input": "Hi"} if "input" in PATHS[path] else {})})


def test_a_stream_that_began_early_is_complete(impatient, client, claude, llama):
    chat = client.chat.completions.create(model=MODEL, messages=LONG, max_tokens=3, extra_body=GREEDY, stream=True)
    assert [*chat][-1].choices[0].finish_reason == "length"
    with claude.messages.stream(model=MODEL, messages=LONG, max_tokens=3, extra_body=GREEDY) as stream:
        assert stream.get_final_message().usage.output_tokens == 3
    events = client.responses.create(model=MODEL, input=LONG, max_output_tokens=3, extra_body=GREEDY, stream=True)
    assert [*events][-1].response.usage.output_tokens == 3
    parts = llama.chat(model=MODEL, messages=LONG, options={"num_predict": 3, **GREEDY}, stream=True)
    assert [*parts][-1].eval_count == 3


def test_each_client_finds_out_that_its_prompt_is_too_long(impatient, client, claude, llama):
    with pytest.raises(openai.APIError, match="maximum context length") as refused:
        [*client.chat.completions.create(model=MODEL, messages=TOO_LONG, stream=True)]
    assert refused.value.code == "context_length_exceeded"
    with pytest.raises(openai.APIError, match="maximum context length"):
        [*client.completions.create(model=MODEL, prompt=TEXT, stream=True)]
    events = [*client.responses.create(model=MODEL, input=TOO_LONG, stream=True)]
    assert [event.type for event in events] == ["response.created", "response.in_progress", "response.failed"]
    assert events[-1].response.error.code == "context_length_exceeded"
    with pytest.raises(anthropic.APIStatusError, match="prompt is too long"):
        [*claude.messages.create(model=MODEL, messages=TOO_LONG, max_tokens=3, stream=True)]
    with pytest.raises(ollama.ResponseError, match="maximum context length"):
        [*llama.chat(model=MODEL, messages=TOO_LONG, stream=True)]


def test_what_is_not_the_length_of_a_prompt_is_refused_by_a_status(impatient, client, claude):
    stray = {"role": "tool", "tool_call_id": "7", "content": "x"}
    with pytest.raises(openai.BadRequestError, match="no message before this one makes the tool call"):
        client.chat.completions.create(model=MODEL, messages=[*LONG, stray], stream=True)
    with pytest.raises(openai.BadRequestError, match="tool_choice"):
        client.chat.completions.create(model=MODEL, messages=LONG, tool_choice="required", stream=True)
    with pytest.raises(anthropic.NotFoundError):
        claude.messages.create(model="other", messages=LONG, max_tokens=3, stream=True)
