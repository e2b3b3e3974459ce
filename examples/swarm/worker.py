"""Answers questions until there is an empty one; every answer is told to whoever listens."""

from typing import Any

from inferlet import Context, Model, Sampler, messaging, runtime


async def main(input: dict[str, Any]) -> int:
    model = Model.load(runtime.models()[0])
    count = 0
    while question := await messaging.pull(f"{input['topic']}/questions"):
        with Context(model) as context:
            context.user(question)
            text = await context.generate(Sampler.argmax(), max_tokens=input["max_tokens"]).collect_text()
        answer = {"worker": input["number"], "question": question, "text": text}
        messaging.broadcast(f"{input['topic']}/progress", answer)
        count += 1
    return count
