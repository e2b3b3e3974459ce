"""Which tokens would go on with a repetition of the text's end: what DRY reads.

The last token of a text may still be being drawn. So the host finds, for each token of the text before it, how long the
match is that ends just before; the device compares that token with the last one.
"""

from collections.abc import Sequence

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.engine.model.token_counts import NOTHING, TokenCounts
from pie_mlx.metal.arrays import from_host, largest_at

MOST_REPEATED = 50
"""Longer matches count as so long."""


def repetitions(
    counts: Sequence[TokenCounts | None],
    last: mx.array,
    shape: tuple[int, ...],
    counted: bool,
    breakers: Sequence[int] = (),
) -> mx.array:
    """For each token of the vocabulary, how many of the text's last tokens stood before an earlier occurrence of it:
    the longest such match, at most MOST_REPEATED; float32 of `shape` [rows, vocabulary].

    `last` [rows, 1] int32 is the last token of each text, which `counts` have already if `counted`. No match has a
    token of `breakers`, and they are 0.
    """
    texts = [(found or NOTHING).recent for found in counts]
    known = [text[:-1] for text in texts] if counted else texts
    width, broken = max(1, *(len(text) for text in known)), np.array(breakers, np.int32)
    tokens, before = np.full((len(known), width), -1, np.int32), np.zeros((len(known), width), np.float32)
    for row, text in enumerate(known):
        if len(text):
            breaks = np.isin(text, broken)
            tokens[row, -len(text) :] = text
            before[row, -len(text) :] = np.where(breaks | np.append(breaks[1:], False), -1, matches(text, breaks))
    held = from_host(tokens)
    following = mx.concatenate([held[:, 1:], last], axis=-1)
    length = mx.where(held == last, mx.minimum(from_host(before) + 1, MOST_REPEATED), 0)
    return largest_at(mx.zeros(shape), mx.maximum(following, 0), length)


def matches(text: npt.NDArray[np.int32], breaks: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    """For each token, how many tokens just before it are the last ones of the text, at most MOST_REPEATED, and none
    that `breaks`."""
    length, alive = np.zeros(len(text), np.float32), np.ones(len(text), np.bool_)
    for back in range(1, min(MOST_REPEATED, len(text) - 1) + 1):
        alive[:back] = False
        alive[back:] &= text[:-back] == text[-back]
        if breaks[-back] or not alive.any():
            break
        length += alive
    return length
