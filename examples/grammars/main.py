"""Grammars: what may be written is fixed token by token, by a regular expression or a grammar in Lark's notation.

The engine masks what would not fit. Constraints combine: with two of them, a token must be allowed by both.

    pie run examples/grammars -- --question "What is 58 + 67?"
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from inferlet import Context, Ebnf, Model, Regex, Sampler, Schema, runtime, session

EQUATION = r"""
start: sum " = " NUMBER
sum: NUMBER (" + " NUMBER)+
NUMBER: /[1-9][0-9]{0,3}/
"""
CONSTRAINTS: dict[str, Sequence[Schema]] = {
    "free": [],
    "choice": [Regex("yes|no|perhaps")],
    "regex": [Regex(r"[A-Z][a-z]{2,8} [0-9]{1,3}\.")],
    "lark": [Ebnf(EQUATION)],
    "lark and regex": [Ebnf(EQUATION), Regex(r"[0-9 +=]{1,8}")],
}


async def main(input: dict[str, Any]) -> dict[str, str]:
    model = Model.load(runtime.models()[0])
    answers = await asyncio.gather(*(answer(model, input, constraints) for constraints in CONSTRAINTS.values()))
    for name, (text, reason) in zip(CONSTRAINTS, answers, strict=True):
        session.send(f"{name:15} {text!r} ended by {reason}\n")
    return dict(zip(CONSTRAINTS, (text for text, _ in answers), strict=True))


async def answer(model: Model, input: dict[str, Any], constraints: Sequence[Schema]) -> tuple[str, str | None]:
    """What is written under these constraints, and what ended it."""
    with Context(model) as context:
        context.user(input["question"])
        generator = context.generate(Sampler.argmax(), max_tokens=input["max_tokens"], constrain=constraints)
        return await generator.collect_text(), generator.finish_reason
