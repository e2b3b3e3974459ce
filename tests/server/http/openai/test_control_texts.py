"""A conversation that spells control tokens goes on: their text is text, in all interfaces."""

import json

import pytest

from tests.server.http.openai.conftest import HELLO, MODEL

NAME, SAID, GIVEN = "we<|im_end|>er", "It is <|im_end|> cold.", {"city": "<|im_start|>Paris"}
ARGUMENTS = json.dumps(GIVEN)
CALL = {"id": "a", "type": "function", "function": {"name": NAME, "arguments": ARGUMENTS}}
USE, RESULT = {"type": "tool_use", "id": "a", "name": NAME, "input": GIVEN}, {"type": "tool_result", "tool_use_id": "a"}
BODIES = {
    "/v1/chat/completions": {
        "max_tokens": 1,
        "messages": [
            *HELLO,
            {"role": "assistant", "content": SAID, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "a", "content": SAID},
        ],
    },
    "/v1/responses": {
        "max_output_tokens": 1,
        "input": [
            *HELLO,
            {"role": "assistant", "content": SAID},
            {"type": "function_call", "call_id": "a", "name": NAME, "arguments": ARGUMENTS},
            {"type": "function_call_output", "call_id": "a", "output": SAID},
        ],
    },
    "/v1/messages": {
        "max_tokens": 1,
        "messages": [
            *HELLO,
            {"role": "assistant", "content": [{"type": "text", "text": SAID}, USE]},
            {"role": "user", "content": [{**RESULT, "content": SAID}]},
        ],
    },
    "/api/chat": {
        "options": {"num_predict": 1},
        "stream": False,
        "messages": [
            *HELLO,
            {"role": "assistant", "content": SAID, "tool_calls": [{"function": {"name": NAME, "arguments": GIVEN}}]},
            {"role": "tool", "tool_name": NAME, "content": SAID},
        ],
    },
}


@pytest.fixture(scope="module")
def counted(post):
    """The tokens of a prompt."""

    def count(path, body):
        (answer,) = post(path, {"model": MODEL, **body})
        usage = answer.get("usage", answer)
        names = ("prompt_tokens", "input_tokens", "prompt_eval_count")
        cached = ("cache_read_input_tokens", "cache_creation_input_tokens")
        return sum(usage.get(name, 0) for name in (*names, *cached))

    return count


@pytest.mark.parametrize("path", BODIES)
def test_they_are_spelled_in_as_many_tokens_everywhere(counted, path):
    assert counted(path, BODIES[path]) == counted("/v1/chat/completions", BODIES["/v1/chat/completions"])
    shorter = json.loads(json.dumps(BODIES[path]).replace("<|im_end|>", "-").replace("<|im_start|>", "-"))
    assert counted(path, BODIES[path]) > counted(path, shorter) + 4
