"""How long the repetitions are that tokens would continue, against a search from each place of the text."""

import mlx.core as mx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.model.rules.repetitions import MOST_REPEATED, repetitions
from pie_mlx.engine.model.token_counts import NOTHING, RECENT


def searched(text: list[int], vocabulary: int, breakers: list[int]) -> list[float]:
    lengths = [0.0] * vocabulary
    for end in range(len(text) - 1):
        length = 0
        while length <= end and length < MOST_REPEATED and text[end - length] == text[-1 - length]:
            if text[-1 - length] in breakers:
                break
            length += 1
        if text[end + 1] in breakers:
            continue
        lengths[text[end + 1]] = max(lengths[text[end + 1]], length)
    return lengths


@given(
    st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=40), min_size=1, max_size=3),
    st.booleans(),
    st.lists(st.integers(0, 2), max_size=2),
)
def test_lengths_are_those_of_a_search(texts: list[list[int]], is_counted: bool, breakers: list[int]) -> None:
    counts = [NOTHING.after(text if is_counted else text[:-1]) for text in texts]
    last = mx.array([[text[-1]] for text in texts], dtype=mx.int32)
    found = repetitions(counts, last, (len(texts), 5), is_counted, breakers)
    assert found.tolist() == [searched(text, 5, breakers) for text in texts]


def test_long_matches_and_old_tokens_do_not_count() -> None:
    text = [1] * (2 * MOST_REPEATED)
    found = repetitions([NOTHING.after(text)], mx.array([[1]]), (1, 3), True)
    assert found.tolist() == [[0, MOST_REPEATED, 0]]
    old = [2, 1, *np.full(RECENT - 1, 0), 2]
    found = repetitions([NOTHING.after(old)], mx.array([[2]]), (1, 3), True)
    assert found.tolist() == [[0, 0, 0]]
