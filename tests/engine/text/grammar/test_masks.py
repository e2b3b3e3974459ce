"""Packed masks and run lengths."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.text.grammar.masks import mask_to_brle, pack_tokens, words_for


def test_the_first_run_is_false() -> None:  # F13
    assert mask_to_brle(pack_tokens([2, 3, 4], 6), 6) == [2, 3, 1]
    assert mask_to_brle(pack_tokens([0, 1], 3), 3) == [0, 2, 1]
    assert mask_to_brle(pack_tokens([], 5), 5) == [5]
    assert mask_to_brle(pack_tokens(list(range(128)), 128), 128) == [0, 128]


@given(st.integers(1, 100).flatmap(lambda size: st.tuples(st.just(size), st.sets(st.integers(0, size - 1)))))
def test_run_lengths_say_the_same_as_bits(case: tuple[int, set[int]]) -> None:  # F13
    size, tokens = case
    runs = mask_to_brle(pack_tokens(sorted(tokens), size), size)
    bits = np.repeat(np.arange(len(runs)) % 2, runs)
    assert set(np.flatnonzero(bits).tolist()) == tokens
    assert sum(runs) == size
    assert all(run > 0 for run in runs[1:])


def test_a_mask_covers_whole_words() -> None:
    assert [words_for(size) for size in (1, 32, 33)] == [1, 1, 2]
