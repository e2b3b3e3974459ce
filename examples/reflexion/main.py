"""Reflexion: an answer is checked; while it is wrong, the model is told so, thinks, and tries again.

What failed stays in its context as a lesson. The check is Python's: the model cannot talk its way around it.

    pie run examples/reflexion -- --first 43 --second 96
"""

import re
from typing import Any

from inferlet import Context, Model, Sampler, runtime, session


async def main(input: dict[str, Any]) -> dict[str, Any]:
    model = Model.load(runtime.models()[0])
    question, expected = f"What is {input['first']} + {input['second']}?", input["first"] + input["second"]
    attempt, correct = 0, False
    with Context(model) as context:
        context.user(question)
        for attempt in range(1, input["attempts"] + 1):
            text = await answer(context)
            correct = last_number(text) == expected
            session.send(f"{attempt}: {text} ({'right' if correct else 'wrong'})\n")
            if correct:
                break
            context.seal().user(f"That is wrong. {question} /think")
    return {"correct": correct, "attempts": attempt}


async def answer(context: Context) -> str:
    text = await context.generate(Sampler.argmax(), max_tokens=64).collect_text()
    return text.strip()


def last_number(text: str) -> int | None:
    """The number an answer ends with; None without one."""
    numbers = re.findall(r"\d+", text)
    return int(numbers[-1]) if numbers else None
