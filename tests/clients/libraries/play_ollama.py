"""Ollama's own client: models, chats and texts, whole and as streams, with a tool."""

import sys

import ollama

url, model = sys.argv[1:]
client = ollama.Client(host=url)
ASKED = {"role": "user", "content": "How warm is it in Paris?"}


def weather(city: str) -> str:
    """The degrees in a city.

    Args:
        city: Its name.
    """
    return "21"


(listed,) = client.list().models
assert listed.model.removesuffix(":latest") == model, listed
assert client.show(model).modelinfo
answer = client.chat(model=model, messages=[{"role": "user", "content": "Hello"}])
assert answer.message.content == "Hello there.", answer
parts = client.chat(model=model, messages=[{"role": "user", "content": "Hello"}], stream=True)
assert "".join(part.message.content for part in parts) == "Hello there."
said = client.chat(model=model, messages=[ASKED], tools=[weather]).message
(call,) = said.tool_calls
assert (call.function.name, call.function.arguments) == ("weather", {"city": "Paris"}), call
messages = [ASKED, said, {"role": "tool", "tool_name": "weather", "content": weather("Paris")}]
answer = client.chat(model=model, messages=messages, tools=[weather])
assert answer.message.content == "It is 21 degrees in Paris.", answer
assert client.generate(model=model, prompt="Hello").response == "Hello there."
assert len(client.embed(model, ["one", "two"]).embeddings) == 2
