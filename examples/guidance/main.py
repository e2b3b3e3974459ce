"""Classifier-free guidance: an answer moves away from what the model would say without an instruction.

Scale 0 writes as if there was no instruction, 1 as the model follows it, more follows it more. (Sanchez et al., Stay on
topic with Classifier-Free Guidance, 2023.) Both contexts are one pass: the token that is drawn goes into each.

    pie run examples/guidance -- --scale 3
"""

from typing import Any

from inferlet import Context, Model, Sampler, rule, runtime, session
from inferlet.rules import Number, OtherRow, Row, Value


@rule
def guided(row: Row, plain: OtherRow, scale: Number = 1.5) -> Value:
    """The library has it as `rules.guidance`."""
    return plain.logits + scale * (row.logits - plain.logits)


async def main(input: dict[str, Any]) -> dict[float, str]:
    model, answers = Model.load(runtime.models()[0]), dict[float, str]()
    for scale in (0.0, input["scale"]):
        sampler = Sampler.argmax().ruled(guided(scale=scale))
        with Context(model) as told, Context(model) as plain:
            told.system(input["instruction"]).user(input["question"])
            plain.user(input["question"])
            generator = told.generate(sampler, others=[plain], max_tokens=input["max_tokens"])
            answers[scale] = await generator.collect_text()
        session.send(f"scale {scale:g}: {answers[scale]}\n")
    return answers
