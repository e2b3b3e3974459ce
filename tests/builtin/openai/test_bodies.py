"""Bodies of requests, and which of them are refused."""

import json
import re

import pytest


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (rb'{"a": "\ud83d"}', "a \\u escape is half of a surrogate pair"),
        (rb'{"a": "\uDE00 \ud83d\ude00"}', "a \\u escape is half of a surrogate pair"),
        (rb'{"a": "\ud83d\ude00"', "Input data was truncated"),
    ],
)
def test_half_an_emoji_is_told_from_half_a_body(openai_module, body, why):
    refusal = openai_module("wire").Refusal
    with pytest.raises(refusal, match=re.escape(f"the body is not JSON: {why}")):
        openai_module("wire").read_fields(body, dict)


@pytest.mark.parametrize(
    ("field", "advice"),
    [("guided_json", "use response_format"), ("functions", "use tools"), ("keep_alive", "leave it out")],
)
def test_what_others_call_a_field_leads_to_ours(openai_module, field, advice):
    with pytest.raises(openai_module("wire").Refusal) as refused:
        openai_module("wire").read_fields(json.dumps({field: {}}).encode(), openai_module("fields").ChatRequest)
    assert str(refused.value) == f"'{field}' is not supported: {advice}"


def test_a_picture_is_refused_with_what_is_read(openai_module):
    part = {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}}
    body = {"model": "m", "messages": [{"role": "user", "content": [part]}]}
    with pytest.raises(openai_module("wire").Refusal) as refused:
        openai_module("wire").read_fields(json.dumps(body).encode(), openai_module("fields").ChatRequest)
    assert str(refused.value).endswith("'image_url' - at `messages[0].content[0].type`: only text is read")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("fields.ChatRequest", {"messages": [{"role": "user", "content": [{"type": "text", "text": "x", "a": None}]}]}),
        ("messages.MessageRequest", {"messages": [{"role": "user", "content": "x", "id": None}], "system": None}),
        ("responses.ResponseRequest", {"input": [{"role": "user", "content": "x", "id": None}], "text": None}),
        ("ollama.ChatRequest", {"messages": [{"role": "user", "content": "x", "id": None}], "options": {"wish": None}}),
    ],
)
def test_null_fields_are_as_good_as_none_down_to_the_parts_of_a_message(openai_module, kind, body):
    module, _, name = kind.partition(".")
    wanted = getattr(openai_module(module), name)
    assert openai_module("wire").read_fields(json.dumps({"model": "m", **body, "wish": None}).encode(), wanted)


def test_null_stays_what_it_is_inside_of_a_schema(openai_module):
    schema = {"type": "object", "properties": {"city": {"const": None}}}
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    body["tools"] = [{"type": "function", "function": {"name": "f", "parameters": schema}}]
    request = openai_module("wire").read_fields(json.dumps(body).encode(), openai_module("fields").ChatRequest)
    assert request.tools[0].function.parameters == schema
