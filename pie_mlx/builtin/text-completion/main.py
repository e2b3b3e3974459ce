"""Answers a prompt: the text is sent as it is generated, and returned."""

from inferlet import Context, Model, Sampler, chat, runtime, session


async def main(input):
    """Answer `prompt`, after a `system` message if there is one."""
    model = Model.load(runtime.models()[0])
    with Context(model) as context:
        if input["system"]:
            context.system(input["system"])
        context.user(input["prompt"])
        sampler = Sampler(input["temperature"], p=input["top_p"])
        decoder, answer = chat.Decoder(model), ""
        limits = {"max_tokens": input["max_tokens"], "thinking_budget": input.get("think")}
        async for step in context.generate(sampler, **limits):
            answer += send(decoder, decoder.feed((await step.execute()).tokens))
        return answer + send(decoder, decoder.finish())


def send(decoder, event):
    """Send the text of an event, and of the queued events after it."""
    text = ""
    while not isinstance(event, chat.Event.Idle):
        if isinstance(event, chat.Event.Delta):
            text += event.text
        elif isinstance(event, chat.Event.Done):
            text += event.tail
        event = decoder.feed([])
    if text:
        session.send(text)
    return text
