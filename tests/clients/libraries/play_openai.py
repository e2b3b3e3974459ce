"""The official client of OpenAI: chats and responses, whole and as streams, with a tool."""

import json
import sys

import openai

url, model = sys.argv[1:]
client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
HELLO = [{"role": "user", "content": "Hello"}]
ASKED = [{"role": "user", "content": "How warm is it in Paris?"}]

assert [listed.id for listed in client.models.list()] == [model]
answer = client.chat.completions.create(model=model, messages=HELLO)
assert answer.choices[0].message.content == "Hello there.", answer
chunks = list(client.chat.completions.create(model=model, messages=HELLO, stream=True))
assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == "Hello there."

tools = [{"type": "function", "function": {"name": "weather", "parameters": PARAMETERS}}]
said = client.chat.completions.create(model=model, messages=ASKED, tools=tools).choices[0].message
(call,) = said.tool_calls
assert (call.function.name, json.loads(call.function.arguments)) == ("weather", {"city": "Paris"})
messages = [*ASKED, said, {"role": "tool", "tool_call_id": call.id, "content": "21"}]
answer = client.chat.completions.create(model=model, messages=messages, tools=tools)
assert answer.choices[0].message.content == "It is 21 degrees in Paris.", answer

response = client.responses.create(model=model, input="Hello")
assert response.output_text == "Hello there.", response
flat = [{"type": "function", "name": "weather", "parameters": PARAMETERS, "strict": False}]
with client.responses.stream(model=model, input=ASKED, tools=flat) as stream:
    (called,) = stream.get_final_response().output
result = {"type": "function_call_output", "call_id": called.call_id, "output": "21"}
response = client.responses.create(model=model, input=[*ASKED, called, result], tools=flat)
assert response.output_text == "It is 21 degrees in Paris.", response
assert len(client.embeddings.create(model=model, input=["one", "two"]).data) == 2
