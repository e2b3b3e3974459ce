"""Beam search: of all continuations of the kept beginnings, the likeliest are kept; a beginning that parts is forked.

Beams share the pages of what they have in common, and all of them step together in one batch.

    pie run examples/beam-search -- --width 4
"""

import asyncio
import math
from dataclasses import dataclass
from typing import Any

from inferlet import Context, Distribution, Model, chat, runtime, session


@dataclass(frozen=True)
class Beam:
    """A beginning: `context` holds all of it but `last`; `score` is the log-probability of `tokens`."""

    context: Context
    last: int
    tokens: tuple[int, ...] = ()
    score: float = 0.0


async def main(input: dict[str, Any]) -> str:
    model = Model.load(runtime.models()[0])
    stops = set(chat.stop_tokens(model))
    ended: list[Beam] = []
    beams = [await opening(model, input["question"])]
    for _ in range(input["max_tokens"]):
        grown = await asyncio.gather(*(extensions(beam, input["width"]) for beam in beams))
        ranked = sorted((beam for group in grown for beam in group), key=lambda beam: -beam.score)
        ended += [beam for beam in ranked[: input["width"]] if beam.last in stops]
        kept = [beam for beam in ranked[: input["width"]] if beam.last not in stops]
        if len(ended) >= input["width"] or not kept:
            break
        beams = part(beams, kept)
    best = sorted(ended or beams, key=lambda beam: -beam.score / len(beam.tokens))
    for beam in best:
        session.send(f"{beam.score:7.2f}  {model.tokenizer().decode(beam.tokens)!r}\n")
    return model.tokenizer().decode(token for token in best[0].tokens if token not in stops)


async def opening(model: Model, question: str) -> Beam:
    context = Context(model).user(question)
    *head, last = chat.cue(model)
    await context.append(head).flush()
    return Beam(context, last)


async def extensions(beam: Beam, width: int) -> list[Beam]:
    """The likeliest continuations of a beam, still on its own context."""
    forward = beam.context.forward().input([beam.last])
    probe = forward.probe(0, Distribution(1.0, width))
    output = await forward.execute()
    return [
        Beam(beam.context, token, (*beam.tokens, token), beam.score + math.log(share))
        for token, share in zip(*(output.distribution(probe) or ([], [])), strict=True)
        if share > 0
    ]


def part(parents: list[Beam], kept: list[Beam]) -> list[Beam]:
    """Give each kept beam a context of its own: one goes on with its parent's, the others with forks of it."""
    free = {parent.context for parent in parents}
    beams: list[Beam] = []
    for beam in kept:
        context = beam.context if beam.context in free else beam.context.fork()
        free.discard(context)
        beams.append(Beam(context, beam.last, beam.tokens, beam.score))
    for context in free:
        context.release()
    return beams
