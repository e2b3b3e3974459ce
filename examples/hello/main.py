"""The smallest program with a conversation: one question, one streamed answer.

A decoder turns tokens into text, and leaves out what is not meant to be read.

    pie run examples/hello -- --prompt "What can you do?"
"""

from typing import Any

from inferlet import Context, Model, Sampler, chat, runtime, session


async def main(input: dict[str, Any]) -> None:
    model = Model.load(runtime.models()[0])
    decoder = chat.Decoder(model)
    with Context(model) as context:
        context.user(input["prompt"])
        async for step in context.generate(Sampler.argmax(), max_tokens=input["max_tokens"]):
            output = await step.execute()
            event = decoder.feed(output.tokens)
            if isinstance(event, chat.Event.Delta):
                session.send(event.text)
    session.send("\n")
