"""The smallest program with a conversation: one question, one streamed answer."""

from inferlet import Context, Model, Sampler, chat, runtime, session


async def main(input):
    model = Model.load(runtime.models()[0])
    decoder = chat.Decoder(model)
    with Context(model) as context:
        context.user(input["prompt"])
        async for step in context.generate(Sampler.argmax(), max_tokens=input["max_tokens"]):
            output = await step.execute()
            match decoder.feed(output.tokens):
                case chat.Event.Delta(text=text):
                    session.send(text)
    session.send("\n")
