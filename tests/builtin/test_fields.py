"""Bodies of requests that are no JSON."""

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
    refusal = openai_module("refusals").Refusal
    with pytest.raises(refusal, match=re.escape(f"the body is not JSON: {why}")):
        openai_module("fields").read_fields(body, dict)
