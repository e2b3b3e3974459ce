"""A watermark: each token makes a secret half of the vocabulary likelier as the next one, and a detector counts.

The rule is part of the batch, so that a marked story costs what a plain one does. About half of the tokens of any other
text are in the secret half; how far from that a text is, a z-score tells. (Kirchenbauer et al., A Watermark for Large
Language Models, 2023.)

    pie run examples/watermark -- --key 1234 --strength 8
"""

import asyncio
from typing import Any

from inferlet import Context, Model, Sampler, rules, runtime, session

HALF = 0.5


async def main(input: dict[str, Any]) -> dict[str, float]:
    model = Model.load(runtime.models()[0])
    found: dict[float, float] = {}
    for strength in (0.0, input["strength"]):
        rule = rules.watermark(key=input["key"], gamma=HALF, delta=strength)
        samplers = [Sampler.multinomial(1.0, seed=seed).ruled(rule) for seed in range(len(input["things"]))]
        stories = await asyncio.gather(
            *(story(model, thing, sampler, input) for thing, sampler in zip(input["things"], samplers, strict=True))
        )
        tokens = [token for story in stories for token in story]
        found[strength] = rules.watermark_z_score(tokens, input["key"], HALF)
        session.send(f"strength {strength:g}, z = {found[strength]:.1f}: {model.tokenizer().decode(stories[0])}\n")
    return {"plain": found[0.0], "marked": found[input["strength"]]}


async def story(model: Model, thing: str, sampler: Sampler, input: dict[str, Any]) -> list[int]:
    with Context(model) as context:
        context.user(f"Tell me a story about a {thing}.")
        return await context.generate(sampler, max_tokens=input["max_tokens"]).collect_tokens()
