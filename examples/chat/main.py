"""A conversation that streams. Every turn adds to the same pages, so nothing that was said is computed again.

It answers the given turns, then every line that is typed, until Ctrl-D.

    pie run examples/chat -- --turns "My name is Anna.,What is my name?"
"""

from collections.abc import AsyncIterator
from typing import Any

from inferlet import Context, Model, Sampler, chat, errors, runtime, session


async def main(input: dict[str, Any]) -> None:
    model = Model.load(runtime.models()[0])
    with Context(model) as context:
        async for text in turns(input["turns"]):
            session.send(f"> {text}\n")
            await answer(context.user(text), input["max_tokens"])
            context.seal()
            session.send(f"\n[{context.seq_len} tokens are kept]\n")


async def turns(given: list[str]) -> AsyncIterator[str]:
    """What the user says: first what was given, then what is sent."""
    for text in given:
        yield text
    while True:
        try:
            yield await session.receive()
        except errors.SessionClosedError:
            return


async def answer(context: Context, max_tokens: int) -> None:
    """Stream the model's turn."""
    decoder = chat.Decoder(context.model)
    async for step in context.generate(Sampler.top_p(0.3, 0.9), max_tokens=max_tokens):
        output = await step.execute()
        event = decoder.feed(output.tokens)
        if isinstance(event, chat.Event.Delta):
            session.send(event.text)
