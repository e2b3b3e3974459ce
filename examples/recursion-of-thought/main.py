"""Recursion of thought: a problem that is too long is split, the parts are solved by themselves, the answers compared.

No context ever sees more than two numbers, however long the list is, and both halves are solved at once.

    pie run examples/recursion-of-thought -- --numbers 17,45,92,38,63
"""

import asyncio
from typing import Any

from inferlet import Context, Model, Regex, Sampler, runtime, session


async def main(input: dict[str, Any]) -> int:
    model = Model.load(runtime.models()[0])
    return await largest(model, [int(number) for number in input["numbers"]])


async def largest(model: Model, numbers: list[int], depth: int = 0) -> int:
    """The largest number, in the model's opinion."""
    if len(numbers) == 1:
        return numbers[0]
    middle = len(numbers) // 2
    left, right = await asyncio.gather(
        largest(model, numbers[:middle], depth + 1), largest(model, numbers[middle:], depth + 1)
    )
    answer = await larger(model, left, right)
    session.send(f"{'    ' * depth}{numbers}: {answer}\n")
    return answer


async def larger(model: Model, left: int, right: int) -> int:
    with Context(model) as context:
        context.user(f"Which is larger, {left} or {right}?")
        generator = context.generate(Sampler.argmax(), constrain=Regex(f"{left}|{right}"))
        return int(await generator.collect_text())
