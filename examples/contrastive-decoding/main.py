"""Contrastive decoding: the same answer is written in two contexts, one of which was told something the other was not.

Of the tokens that are plausible at all, that one is chosen which the text makes likelier than it would be without it.
With weight 0 it is plain greedy decoding. (Li et al., Contrastive Decoding, 2023; here, as in Shi et al., Trusting Your
Evidence, 2024, what differs is not the model but what it has read.) The rule runs on the device, in the pass of both.

    pie run examples/contrastive-decoding -- --weight 2
"""

from typing import Any

from inferlet import Context, Model, Sampler, rules, runtime, session


async def main(input: dict[str, Any]) -> str:
    model = Model.load(runtime.models()[0])
    answers = {weight: await answer(model, input, weight) for weight in (0.0, input["weight"])}
    for weight, text in answers.items():
        session.send(f"weight {weight:g}: {text}\n")
    return answers[input["weight"]]


async def answer(model: Model, input: dict[str, Any], weight: float) -> str:
    """Written with and without the text at the same time, by what they differ in."""
    sampler = Sampler.argmax().ruled(rules.contrastive(plausible=input["plausible"], strength=weight))
    with Context(model) as told, Context(model) as plain:
        told.system(input["text"]).user(input["question"])
        plain.user(input["question"])
        return await told.generate(sampler, others=[plain], max_tokens=input["max_tokens"]).collect_text()
