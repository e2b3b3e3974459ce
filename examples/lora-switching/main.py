"""One question, three manners, one batch: without an adapter, and with the two that lie beside this file.

Adapters are chosen pass by pass, so streams with different ones share every batch and none waits for another. Both were
trained with mlx-lm (`tools/example_adapters.py` of the repository); folders of PEFT load in the same way.

    pie run examples/lora-switching -- --question "Who made you?"
"""

import asyncio
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from inferlet import Adapter, Context, Model, Sampler, runtime, session

HERE = Path(__file__).parent


async def main(input: dict[str, Any]) -> list[str]:
    model = Model.load(runtime.models()[0])
    adapters = [adapter(model, name) for name in ("polite", "pirate")]
    uses = [None, *adapters]
    with ExitStack() as contexts:
        texts = [contexts.enter_context(asked(model, input["question"])) for _ in uses]
        writers = [
            text.generate(Sampler.argmax(), max_tokens=input["max_tokens"], adapter=use)
            for text, use in zip(texts, uses, strict=True)
        ]
        answers = await asyncio.gather(*(writer.collect_text() for writer in writers))
    for use, text in zip(uses, answers, strict=True):
        session.send(f"{use.name if use else 'plain':8}{text.strip()}\n")
    return answers


def adapter(model: Model, name: str) -> Adapter:
    """The adapter of that name: from an earlier run of this user, or loaded now."""
    found = Adapter.open(model, name)
    if found is None:
        found = Adapter.create(model, name)
        found.load(HERE / name)
    return found


def asked(model: Model, question: str) -> Context:
    context = Context(model)
    context.user(question)
    return context
