"""A watermark: each token makes a secret half of the vocabulary likelier as the next one, and a detector counts.

Sampling is the program's own: it reads the logits of each step, draws, and tells the generator what it drew. About half
of the tokens of any other text are in the secret half; how far from that a text is, a z-score tells. (Kirchenbauer et
al., A Watermark for Large Language Models, 2023.)

    pie run examples/watermark -- --key 1234 --strength 4
"""

import asyncio
import math
import random
from array import array
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from inferlet import Context, Logits, Model, Sampler, runtime, session


async def main(input: dict[str, Any]) -> dict[str, float]:
    model = Model.load(runtime.models()[0])
    found: dict[float, float] = {}
    for strength in (0.0, input["strength"]):
        stories = await asyncio.gather(*(story(model, thing, strength, input) for thing in input["things"]))
        found[strength] = z_score(stories, input["key"], model.info.vocabulary_size)
        session.send(f"strength {strength:g}, z = {found[strength]:.1f}: {model.tokenizer().decode(stories[0])}\n")
    return {"plain": found[0.0], "marked": found[input["strength"]]}


async def story(model: Model, thing: str, strength: float, input: dict[str, Any]) -> list[int]:
    """The tokens of a story, each drawn with a preference for the secret half."""
    chance = random.Random(thing)
    tokens: list[int] = []
    with Context(model) as context:
        context.user(f"Tell me a story about a {thing}.")
        generator = context.generate(Sampler.argmax(), max_tokens=input["max_tokens"])
        probe = generator.probe_each_step(-1, Logits())
        async for step in generator:
            output = await step.clear_sampler().execute()
            logits = array("f", output.logits(probe) or b"")
            secret = secret_half(tokens[-1] if tokens else 0, input["key"], len(logits))
            tokens += generator.accept([draw(logits, secret, strength, chance)])
    return tokens


def secret_half(before: int, key: int, size: int) -> int:
    """As bits of a number: which tokens are preferred after this one."""
    return random.Random(f"{key} {before}").getrandbits(size)


def draw(logits: Sequence[float], secret: int, strength: float, chance: random.Random) -> int:
    """A token from the softmax of the logits, of which those of the secret half are raised."""
    raised = [value + strength * (secret >> token & 1) for token, value in enumerate(logits)]
    largest = max(raised)
    return chance.choices(range(len(raised)), [math.exp(value - largest) for value in raised])[0]


def z_score(stories: list[list[int]], key: int, size: int) -> float:
    """By how many standard deviations more pairs of tokens keep to the secret halves than without a watermark."""
    pairs = {pair for story in stories for pair in pairwise(story)}
    secret = sum(secret_half(before, key, size) >> token & 1 for before, token in pairs)
    return (secret - len(pairs) / 2) / math.sqrt(len(pairs) / 4)
