"""Raw logits: one pass over a question and a given answer shows, at each position, what else the model considered.

The numbers are the model's own, before temperature and masks; softmax and entropy are computed here, by hand.

    pie run examples/raw-logits -- --answer "47 + 38 = 75"
"""

import math
from array import array
from collections.abc import Sequence
from typing import Any

from inferlet import Context, Logits, Model, Tokenizer, chat, runtime, session


async def main(input: dict[str, Any]) -> float:
    model = Model.load(runtime.models()[0])
    cue, answer = list(chat.cue(model)), model.tokenizer().encode(input["answer"])
    with Context(model) as context:
        forward = context.user(input["question"]).forward().input([*cue, *answer])
        probes = [forward.probe(place, Logits()) for place, _ in enumerate(answer, len(cue) - 1)]
        output = await forward.execute()
    rows = [softmax(array("f", output.logits(probe) or b"")) for probe in probes]
    for token, row in zip(answer, rows, strict=True):
        session.send(line(model.tokenizer(), token, row, input["top"]))
    return math.fsum(math.log(row[token]) for token, row in zip(answer, rows, strict=True))


def softmax(logits: Sequence[float]) -> list[float]:
    """Probabilities; the largest logit is taken off first, so that nothing overflows."""
    largest = max(logits)
    weights = [math.exp(value - largest) for value in logits]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def entropy(row: list[float]) -> float:
    """In nats."""
    return -math.fsum(share * math.log(share) for share in row if share > 0)


def line(tokenizer: Tokenizer, token: int, row: list[float], top: int) -> str:
    """The given token and its share, the entropy, and the likeliest tokens with theirs."""
    likeliest = sorted(range(len(row)), key=lambda other: -row[other])[:top]
    others = "  ".join(f"{tokenizer.decode([other])!r} {row[other]:.3f}" for other in likeliest)
    return f"{tokenizer.decode([token])!r:8} {row[token]:.3f}  entropy {entropy(row):.3f}  | {others}\n"
