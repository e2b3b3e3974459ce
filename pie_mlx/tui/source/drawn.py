"""Tokens that the demo's programs draw: the same for the same place of the same context."""

import random

from pie_mlx.events import DrawnToken, LikelyToken, TokensDrawn
from pie_mlx.tui.source.script import WORDS

LIKELY = 8
KINDS = (1, 0, 0, 0, 0, 43, 0, 0)
"""How many tokens a grammar allows at the places of a text, one after the other."""


def drawn_tokens(process: str, context: int, place: int) -> TokensDrawn:
    """The token at a place of a context. Some were drafted, and at some a draft was wrong."""
    draw = random.Random(f"{context} {place}")
    words = draw.sample(sorted(set(WORDS)), LIKELY)
    allowed = KINDS[(context + place) % len(KINDS)]
    left, likely = 1.0, list[LikelyToken]()
    for number, word in enumerate(words):
        part = round(left * draw.uniform(0.2, 0.98), 4)
        left -= part
        likely.append(LikelyToken(100 + number, f" {word}", part))
    likely.sort(key=lambda each: -each.probability)
    chosen = likely[min(LIKELY - 1, int(draw.expovariate(1.6)))]
    token = DrawnToken(chosen.token, chosen.text, chosen.probability, tuple(likely), allowed, place % 5 == 1)
    return TokensDrawn(process, context, place, (token,), (f" {words[-1]}",) if place % 11 == 3 else ())
