"""Reads a long text and bids what it is worth to keep it, then gives up on a mistake of its own if asked to."""

import sys

from inferlet import Context, Model, Sampler, runtime


async def main(input):
    model = Model.load(runtime.models()[0])
    with Context(model) as context:
        context.user("Read this. " + "The capital of Norway is Oslo. " * input["length"])
        context.set_bid(input["bid"])
        async for step in context.generate(Sampler.top_p(1.0, 0.9), max_tokens=input["max_tokens"], stop=()):
            context.set_bid(input["bid"])
            await step.execute()
        if input["mistake"]:
            print("reader: no title in the text", file=sys.stderr)
            return {"title": {}["title"]}
    return {"read": input["length"]}
