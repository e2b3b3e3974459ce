"""Typical sampling: only tokens are drawn whose surprise is close to the entropy, the surprise the model expects.

It is none of the built-in samplers: the program reads the distribution and the entropy of each step and draws itself.
(Meister et al., Locally Typical Sampling, 2023.)

    pie run examples/typical-sampling -- --mass 0.5
"""

import itertools
import math
import random
from typing import Any

from inferlet import Context, Distribution, Entropy, Model, Sampler, runtime, session


async def main(input: dict[str, Any]) -> list[int]:
    model, chance = Model.load(runtime.models()[0]), random.Random(input["seed"])
    tokens: list[int] = []
    considered: list[int] = []
    with Context(model) as context:
        generator = context.user(input["prompt"]).generate(Sampler.argmax(), max_tokens=input["max_tokens"])
        distribution = generator.probe_each_step(-1, Distribution(1.0, 0))
        entropy = generator.probe_each_step(-1, Entropy())
        async for step in generator:
            output = await step.clear_sampler().execute()
            likely = output.distribution(distribution) or ([], [])
            typical = most_typical(*likely, output.entropy(entropy) or 0.0, input["mass"])
            tokens += generator.accept(chance.choices(*zip(*typical, strict=True)))
            considered.append(len(typical))
    session.send(f"{model.tokenizer().decode(tokens)}\n")
    session.send(f"drawn from {sum(considered) / len(considered):.1f} tokens on average\n")
    return considered


def most_typical(tokens: list[int], shares: list[float], entropy: float, mass: float) -> list[tuple[int, float]]:
    """Tokens and their shares, the most typical first, until together they have the mass."""
    pairs = [(token, share) for token, share in zip(tokens, shares, strict=True) if share > 0]
    pairs.sort(key=lambda pair: abs(-math.log(pair[1]) - entropy))
    before = itertools.accumulate((share for _, share in pairs), initial=0.0)
    return [pair for pair, total in zip(pairs, before, strict=False) if total < mass] or pairs[:1]
