"""Requests to /v1 with values nobody expects, sent to a server that runs."""

import urllib.error
import urllib.request

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.values import junk, nested, texts

PATIENCE_SECONDS = 20
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}}}
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
CHAT = {
    "model": "dummy",
    "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "u"}]},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "t"},
    ],
    "tools": [TOOL],
    "tool_choice": "auto",
    "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}},
    "stop": ["a"],
    "temperature": 0.5,
    "logprobs": True,
    "top_logprobs": 2,
    "logit_bias": {"1": 1},
    "stream_options": {"include_usage": True},
    "stream": True,
    "seed": 1,
    "n": 1,
}
BODIES = {
    "chat/completions": CHAT,
    "completions": {"model": "dummy", "prompt": ["x", "y"], "echo": True, "logprobs": 1, "n": 1, "suffix": None},
    "responses": {
        "model": "dummy",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "x"}]}],
        "text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}},
        "tools": [{"type": "function", "name": "f", "parameters": SCHEMA}],
        "instructions": "i",
        "include": ["message.output_text.logprobs"],
        "metadata": {"a": "b"},
        "reasoning": {"effort": "low"},
    },
}


def places(value, path=()):
    """The way to every part of a body."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


def put(value, path, other):
    """The body with another part at the end of a way; what is not there any more stays as it is."""
    if not path:
        return other
    key, *rest = path
    if isinstance(value, dict) and key in value:
        return {**value, key: put(value[key], rest, other)}
    if isinstance(value, list) and isinstance(key, int) and key < len(value):
        return [*value[:key], put(value[key], rest, other), *value[key + 1 :]]
    return value


def bodies(path):
    ways = st.lists(st.tuples(st.sampled_from(list(places(BODIES[path]))), junk | nested(texts)), max_size=2)
    kept = st.sets(st.sampled_from(sorted(BODIES[path])))

    def changed(drawn):
        body = {key: value for key, value in BODIES[path].items() if key in {"model", "messages", *drawn[1]}}
        body = {**body, "max_output_tokens" if path == "responses" else "max_tokens": 2}
        for way, other in drawn[0]:
            body = put(body, way, other)
        return path, body

    return st.tuples(ways, kept).map(changed)


def status(url, body):
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read()


@given(st.one_of(*map(bodies, BODIES)))
def test_a_request_is_answered_or_refused(server, drawn):
    path, body = drawn
    try:
        data = msgspec.json.encode(body)
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
        return  # JSON cannot say it
    code, text = status(f"{server.http}/v1/{path}", data)
    assert code in (200, 400, 404, 413, 429), (code, text)
    assert b'"server_error"' not in text
