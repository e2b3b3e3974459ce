"""Contrastive decoding: the same answer is written in two contexts, one of which was told something the other was not.

Of the tokens that are plausible at all, that one is chosen which the text makes likelier than it would be without it.
With weight 0 it is plain greedy decoding. (Li et al., Contrastive Decoding, 2023; here, as in Shi et al., Trusting Your
Evidence, 2024, what differs is not the model but what it has read.)

    pie run examples/contrastive-decoding -- --weight 2
"""

import asyncio
import math
from array import array
from collections.abc import Sequence
from typing import Any

from inferlet import Context, Logits, Model, chat, runtime, session


async def main(input: dict[str, Any]) -> str:
    model = Model.load(runtime.models()[0])
    answers = {weight: await answer(model, input, weight) for weight in (0.0, input["weight"])}
    for weight, text in answers.items():
        session.send(f"weight {weight:g}: {text}\n")
    return answers[input["weight"]]


async def answer(model: Model, input: dict[str, Any], weight: float) -> str:
    """Written with and without the text at the same time, by what they differ in."""
    stops = chat.stop_tokens(model)
    tokens: list[int] = []
    with Context(model) as told, Context(model) as plain:
        told.system(input["text"]).user(input["question"])
        plain.user(input["question"])
        following = list(chat.cue(model))
        while len(tokens) < input["max_tokens"]:
            both = await asyncio.gather(logits(told, following), logits(plain, following))
            following = [choose(*both, weight, input["plausible"])]
            if following[0] in stops:
                break
            tokens += following
    return model.tokenizer().decode(tokens)


async def logits(context: Context, tokens: list[int]) -> Sequence[float]:
    """Of what follows these tokens, as numbers."""
    forward = context.forward().input(tokens)
    probe = forward.probe(len(tokens) - 1, Logits())
    return array("f", (await forward.execute()).logits(probe) or b"")


def choose(told: Sequence[float], plain: Sequence[float], weight: float, plausible: float) -> int:
    """The token that gains most, among those at least `plausible` times as likely as the likeliest."""
    least = max(told) + math.log(plausible)
    scores = {token: value + weight * (value - plain[token]) for token, value in enumerate(told) if value >= least}
    return max(scores, key=scores.__getitem__)
