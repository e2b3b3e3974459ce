"""Skeleton of thought: first a short answer that lists points, then every point expanded at the same time.

The expansions are forks of the conversation that wrote the skeleton: they share its pages and run as one batch.

    pie run examples/skeleton-of-thought -- --points "Name five animals."
"""

import asyncio
from typing import Any

from inferlet import Context, Model, Sampler, runtime, session


async def main(input: dict[str, Any]) -> int:
    model = Model.load(runtime.models()[0])
    with Context(model) as conversation:
        skeleton = await conversation.user(input["points"]).generate(Sampler.argmax(), max_tokens=48).collect_text()
        points = [point.strip() for point in skeleton.split(",")]
        session.send(f"skeleton: {points}\n")
        await conversation.seal().flush()
        texts = await asyncio.gather(
            *(expanded(conversation, input["expand"].format(point), input["max_tokens"]) for point in points)
        )
    for point, text in zip(points, texts, strict=True):
        session.send(f"- {point}: {text}\n")
    return len(points)


async def expanded(conversation: Context, question: str, max_tokens: int) -> str:
    with conversation.fork() as context:
        return await context.user(question).generate(Sampler.top_p(0.7), max_tokens=max_tokens).collect_text()
