"""Tree of thought: every kept thought is forked, each fork proposes a next line, and the best thoughts are kept.

A thought is a written calculation. What it is worth, Python knows: the share of its equations that hold.

    pie run examples/tree-of-thought -- --first 58 --second 67
"""

import asyncio
import re
from typing import Any

from inferlet import Context, Model, Sampler, runtime, session

EQUATION = re.compile(r"(\d+) \+ (\d+) = (\d+)")


async def main(input: dict[str, Any]) -> str:
    model = Model.load(runtime.models()[0])
    root = Context(model).system("Think step by step.").user(f"What is {input['first']} + {input['second']}?")
    await root.cue().flush()
    thoughts = [(root.append(model.tokenizer().encode("<think>\n")), "")]
    for level in range(1, input["depth"] + 1):
        parents = [thought for thought in thoughts for _ in range(input["branches"])]
        proposed = await asyncio.gather(*(propose(*parent, input["temperature"]) for parent in parents))
        for context, _ in thoughts:
            context.release()
        thoughts = select(proposed, input["keep"])
        session.send(f"{level}: {len(proposed)} proposed, {len(thoughts)} kept: {[text for _, text in thoughts]}\n")
        if "</think>" in thoughts[0][1]:
            break
    return thoughts[0][1].removesuffix("</think>").strip()


async def propose(context: Context, text: str, temperature: float) -> tuple[Context, str]:
    """One more line, on a fork of its own."""
    fork, tokenizer = context.fork(), context.model.tokenizer()
    line = ""
    async for step in fork.generate(Sampler.multinomial(temperature), max_tokens=24, auto_flush=False):
        output = await step.execute()
        line += tokenizer.decode(output.tokens)
        if line.endswith(("\n", "</think>")):
            break
    return fork, text + line


def select(proposed: list[tuple[Context, str]], keep: int) -> list[tuple[Context, str]]:
    """The best different thoughts; the contexts of all others are released."""
    kept: dict[str, Context] = {}
    for context, text in sorted(proposed, key=lambda thought: -value(thought[1])):
        if len(kept) < keep and text not in kept:
            kept[text] = context
        else:
            context.release()
    return [(context, text) for text, context in kept.items()]


def value(text: str) -> float:
    """The share of the equations that hold; a thought without any is worth nothing."""
    equations = [tuple(map(int, found)) for found in EQUATION.findall(text)]
    return sum(a + b == c for a, b, c in equations) / len(equations) if equations else 0.0
