"""Answers questions until there is an empty one; every answer is told to whoever listens."""

from inferlet import Context, Model, Sampler, messaging, runtime


async def main(input):
    model = Model.load(runtime.models()[0])
    count = 0
    while question := await messaging.pull("swarm/questions"):
        with Context(model) as context:
            context.user(question)
            text = await context.generate(Sampler.argmax(), max_tokens=input["max_tokens"]).collect_text()
        messaging.broadcast("swarm/progress", {"worker": input["number"], "question": question, "text": text})
        count += 1
    return count
