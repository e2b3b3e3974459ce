"""A conversation with somebody who takes time to think; while they do, the program bids nothing for its pages."""

import asyncio

from inferlet import Context, Model, Sampler, chat, runtime, session


async def main(input):
    model = Model.load(runtime.models()[0])
    with Context(model) as context:
        for question in input["questions"]:
            session.send(f"> {question}\n")
            await answer(context.user(question), input["max_tokens"])
            with context.idle():
                await asyncio.sleep(input["pause"])
    return "goodbye"


async def answer(context, max_tokens):
    decoder = chat.Decoder(context.model)
    async for step in context.generate(Sampler.argmax(), max_tokens=max_tokens):
        output = await step.execute()
        match decoder.feed(output.tokens):
            case chat.Event.Delta(text=text):
                session.send(text)
    session.send("\n")
    context.seal()
