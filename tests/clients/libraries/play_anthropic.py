"""The official client of Anthropic: messages, whole and as a stream, with a tool, and their tokens."""

import sys

import anthropic

url, model = sys.argv[1:]
client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
HELLO = [{"role": "user", "content": "Hello"}]
ASKED = [{"role": "user", "content": "How warm is it in Paris?"}]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [{"name": "weather", "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}}]

answer = client.messages.create(model=model, messages=HELLO, max_tokens=100)
assert answer.content[0].text == "Hello there.", answer
assert answer.stop_reason == "end_turn"
with client.messages.stream(model=model, messages=HELLO, max_tokens=100, system="Be kind.") as stream:
    assert "".join(stream.text_stream) == "Hello there."
called = client.messages.create(model=model, messages=ASKED, max_tokens=100, tools=TOOLS)
(use,) = called.content
assert (called.stop_reason, use.name, use.input) == ("tool_use", "weather", {"city": "Paris"})
result = {"type": "tool_result", "tool_use_id": use.id, "content": "21"}
messages = [*ASKED, {"role": "assistant", "content": called.content}, {"role": "user", "content": [result]}]
answer = client.messages.create(model=model, messages=messages, max_tokens=100, tools=TOOLS)
assert answer.content[0].text == "It is 21 degrees in Paris.", answer
assert client.messages.count_tokens(model=model, messages=HELLO).input_tokens > 0
