"""One stream of `benchmarks.rules`, as a program in a worker process: texts as the benchmark asks for them."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from inferlet import Context, Generator, Logits, Model, Sampler, rule, rules, runtime, session
from inferlet.rules import Row, RuleUse, Value, Vector, where

P = 0.1
SCALE = 1.5
FloatRow = npt.NDArray[np.float32]


class Text(TypedDict):
    """A text to write: how, of how many tokens after the first, and whether step by step."""

    way: str
    tokens: int
    steps: bool


@rule
def leaning(row: Row, direction: Vector) -> Value:
    """A linear probe of the hidden state."""
    return where(row.hidden_state.dot(direction) > 0.0, row.logits, row.logits / 2.0)


RULES: Mapping[str, RuleUse] = {
    "min-p": rules.min_p(p=P),
    "top-nσ": rules.top_n_sigma(n=2.0),
    "eta": rules.eta(),
    "typical": rules.typical(),
    "xtc": rules.xtc(),
    "warmth": rules.entropy_temperature(),
    "gate": rules.entropy_gate(token=5),
    "mirostat": rules.mirostat(),
    "dry": rules.dry(),
    "mark": rules.watermark(key=7),
    "guided": rules.guidance(scale=SCALE),
}


async def main(input: dict[str, Any]) -> None:
    """Writes a text for each message, and says when its first token is there, and, asked to go on, when it ends."""
    number = input["number"]
    while text := json.loads(await session.receive()):
        writes = {"probe": by_hand, "probes": guided_by_hand}.get(text["way"], drawn)
        async for _ in writes(text, number, input["width"]):
            session.send("begun")
            await session.receive()
        session.send("ended")


async def drawn(text: Text, number: int, width: int) -> AsyncIterator[None]:
    """Drawn by the engine: by a sampler, under a rule, or two texts beside each other."""
    way = text["way"]
    with ExitStack() as opened:
        contexts = begun(opened, number, 2 if way in ("two", "guided") else 1)
        sampler = Sampler.min_p(1.0, p=P, seed=number) if way == "sampler" else Sampler.multinomial(1.0, seed=number)
        used = leaning(direction=[1.0] * width) if way == "hidden" else RULES.get(way)
        others = contexts[1:] if way == "guided" else []
        writers = contexts[:1] if way == "guided" else contexts
        generators = [
            each.generate(sampler.ruled(used), others=others, max_tokens=text["tokens"] + 1, stop=[], auto_flush=False)
            for each in writers
        ]
        for generator in generators:
            await (await anext(generator)).execute()
        yield
        await asyncio.gather(*[to_the_end(generator, text["steps"]) for generator in generators])


async def to_the_end(generator: Generator, steps: bool) -> None:
    if not steps:
        await generator.collect_tokens()
    async for step in generator:
        await step.execute()


async def by_hand(text: Text, number: int, width: int) -> AsyncIterator[None]:
    """Under min-p as a program without rules draws: from a probe of all logits."""
    random, count = np.random.default_rng(number), 0
    with ExitStack() as opened:
        (context,) = begun(opened, number, 1)
        generator = context.generate(Sampler.argmax(), max_tokens=text["tokens"] + 1, stop=[], auto_flush=False)
        async for step in generator:
            probe = step.clear_sampler().probe(-1, Logits())
            row = np.frombuffer((await step.execute()).logits(probe) or b"", np.float32)
            mass = np.exp(row - row.max())
            generator.accept([one_of(np.where(mass >= P, mass, 0), random)])
            if not count:
                yield
            count += 1


async def guided_by_hand(text: Text, number: int, width: int) -> AsyncIterator[None]:
    """Guidance from a probe of each of two contexts."""
    random = np.random.default_rng(number)
    with ExitStack() as opened:
        contexts = opened_contexts(opened, 2)
        following = [prompt(number, place) for place in (0, 1)]
        for count in range(text["tokens"] + 1):
            told, plain = await asyncio.gather(*map(next_row, contexts, following))
            guided = plain + SCALE * (told - plain)
            following = [[one_of(np.exp(guided - guided.max()), random)]] * 2
            if not count:
                yield


def prompt(number: int, place: int) -> list[int]:
    return [2 + number, 3 + place]


def opened_contexts(opened: ExitStack, count: int) -> list[Context]:
    return [opened.enter_context(Context(Model.load(runtime.models()[0]))) for _ in range(count)]


def begun(opened: ExitStack, number: int, count: int) -> list[Context]:
    """With their prompts."""
    return [context.append(prompt(number, place)) for place, context in enumerate(opened_contexts(opened, count))]


async def next_row(context: Context, tokens: list[int]) -> FloatRow:
    step = context.forward().input(tokens)
    probe = step.probe(len(tokens) - 1, Logits())
    return np.frombuffer((await step.execute()).logits(probe) or b"", np.float32)


def one_of(mass: FloatRow, random: np.random.Generator) -> int:
    """A token in proportion to `mass`."""
    running = np.cumsum(mass)
    return int(np.searchsorted(running, random.random() * running[-1], side="right"))
