"""Several answers to one question side by side: forks of a common prefix, each with its own draw."""

import asyncio

from inferlet import Context, Model, Sampler, runtime, session


async def main(input):
    model = Model.load(runtime.models()[0])
    with Context(model) as common:
        common.system("You are a helpful assistant. " + "Weigh every side of the matter. " * input["emphasis"])
        common.user(input["question"])
        await common.flush()
        forks = [common.fork() for _ in range(input["voices"])]
        texts = await asyncio.gather(*(say(fork, number, input) for number, fork in enumerate(forks)))
        for fork in forks:
            fork.release()
    session.send({"longest": max(texts, key=len), "voices": len(texts)})
    return f"{len(texts)} voices"


async def say(context, number, input):
    generator = context.generate(Sampler.top_p(1.2, 0.95), max_tokens=input["max_tokens"], stop=())
    tokens = []
    async for step in generator:
        tokens += (await step.execute()).tokens
    print(f"voice {number}: {len(tokens)} tokens")
    return context.model.tokenizer().decode(tokens)
