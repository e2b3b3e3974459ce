"""A router: a small model says whether a request is hard, and the large one answers it only then.

The first model of the engine is the large one, the last one decides, as in `pie serve --model LARGE --model SMALL`.
An engine with one model has it do both.

    pie run examples/model-router
"""

from typing import Any

from inferlet import Context, Model, Regex, Sampler, runtime, session


async def main(input: dict[str, Any]) -> str:
    names = runtime.models()
    large, small = Model.load(names[0]), Model.load(names[-1])
    model = large if await is_hard(small, input["prompt"]) else small
    session.send(f"{small.name} decides: {model.name} answers\n")
    with Context(model) as context:
        context.user(input["prompt"])
        return await context.generate(Sampler.argmax(), max_tokens=input["max_tokens"]).collect_text()


async def is_hard(model: Model, prompt: str) -> bool:
    with Context(model) as context:
        context.user(f"Is this easy or hard to answer? {prompt}")
        verdict = context.generate(Sampler.argmax(), max_tokens=8, constrain=[Regex("easy|hard")])
        return await verdict.collect_text() == "hard"
