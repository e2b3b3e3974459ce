"""Graph of thought: thoughts are made from several earlier ones. Here each adds two others, until one is left.

All merges of a level run at once; each is tried several times on forks of its question, and the votes decide.

    pie run examples/graph-of-thought -- --numbers 12,30,25,14
"""

import asyncio
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from inferlet import Context, Model, Sampler, runtime, session


@dataclass(frozen=True)
class Thought:
    """A number, and the thoughts it was made from."""

    value: int
    sources: tuple["Thought", ...] = ()

    def __str__(self) -> str:
        return f"({' + '.join(map(str, self.sources))} = {self.value})" if self.sources else str(self.value)


async def main(input: dict[str, Any]) -> int:
    model = Model.load(runtime.models()[0])
    thoughts = [Thought(int(number)) for number in input["numbers"]]
    while len(thoughts) > 1:
        odd = thoughts[len(thoughts) // 2 * 2 :]
        pairs = zip(thoughts[::2], thoughts[1::2], strict=False)
        merged = await asyncio.gather(*(merge(model, pair, input["votes"], input["temperature"]) for pair in pairs))
        thoughts = [*merged, *odd]
        session.send("  ".join(map(str, thoughts)) + "\n")
    return thoughts[0].value


async def merge(model: Model, pair: tuple[Thought, Thought], votes: int, temperature: float) -> Thought:
    """The thought that follows from two others: the sum most attempts agree on."""
    left, right = pair
    with Context(model) as question:
        await question.user(f"What is {left.value} + {right.value}?").flush()
        sums = await asyncio.gather(*(attempt(question, temperature) for _ in range(votes)))
    [(value, _)] = Counter(sums).most_common(1)
    return Thought(value, pair)


async def attempt(question: Context, temperature: float) -> int:
    """The number at the end of one answer; 0 when there is none."""
    with question.fork() as context:
        text = await context.generate(Sampler.multinomial(temperature), max_tokens=24).collect_text()
    return int((re.findall(r"\d+", text) or ["0"])[-1])
