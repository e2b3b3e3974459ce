"""Bodies of requests that are refused."""

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
