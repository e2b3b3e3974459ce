"""Tunes an adapter without gradients, by an evolution strategy.

A generation is one batch: every member of the population is the same adapter with the noise of its own seed. Its score
is how likely it finds the opening as the beginning of its answers; the engine moves the adapter towards the seeds that
scored best. What it has learned is measured on questions it was not tuned on.

    pie run examples/evolution-tuning -- --opening "Of course!"
"""

import asyncio
from typing import Any

from inferlet import Adapter, Context, Logprob, Model, runtime, session, zo

QUESTIONS = [
    "Who are you?",
    "What can you do?",
    "Tell me about dogs.",
    "Which city is it?",
    "How are you?",
    "Can you count?",
]
HELD_OUT = ["Where do you live?", "Tell me a story.", "What is rain?", "Do you like music?", "Can you help me?", "Bye."]


async def main(input: dict[str, Any]) -> dict[str, float]:
    model = Model.load(runtime.models()[0])
    opening = model.tokenizer().encode(input["opening"])
    adapter = Adapter.create(model, "evolution-tuning")
    try:
        return await tune(adapter, opening, input["generations"], input["population"])
    finally:
        adapter.destroy()


async def tune(adapter: Adapter, opening: list[int], generations: int, population: int) -> dict[str, float]:
    questions, held_out = prompts(adapter.model, QUESTIONS), prompts(adapter.model, HELD_OUT)
    zo.initialize(adapter, rank=4, population_size=population, initial_sigma=0.1, targets=("v_proj", "o_proj"))
    before = await score(adapter, 0, held_out, opening)
    for generation in range(generations):
        seeds = [1 + generation * population + member for member in range(population)]
        scores = await asyncio.gather(*(score(adapter, seed, questions, opening) for seed in seeds))
        zo.update(adapter, scores, seeds, max_sigma=0.3)
        session.send(f"generation {generation + 1:2}  mean {sum(scores) / population:6.2f}  best {max(scores):6.2f}\n")
    after = await score(adapter, 0, held_out, opening)
    session.send(f"held-out questions: {before:.2f} before, {after:.2f} after\n")
    return {"before": before, "after": after}


def prompts(model: Model, questions: list[str]) -> list[list[int]]:
    """The tokens of each question as a conversation, up to where the answer begins."""
    found: list[list[int]] = []
    for question in questions:
        with Context(model) as context:
            found.append(context.user(question).cue().buffer())
    return found


async def score(adapter: Adapter, seed: int, prompts: list[list[int]], opening: list[int]) -> float:
    """Mean log-probability that the answer begins with the opening."""
    return sum(await asyncio.gather(*(log_probability(adapter, seed, one, opening) for one in prompts))) / len(prompts)


async def log_probability(adapter: Adapter, seed: int, prompt: list[int], opening: list[int]) -> float:
    with Context(adapter.model) as context:
        forward = context.forward().input(prompt + opening).adapter(adapter).zo_seed(seed)
        probes = [forward.probe(place, Logprob(token)) for place, token in enumerate(opening, len(prompt) - 1)]
        output = await forward.execute()
    return sum(value for probe in probes for value in output.logprobs(probe) or ())
