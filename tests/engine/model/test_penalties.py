"""Penalties and biases against plain numpy and mlx-lm."""

from collections import Counter
from collections.abc import Sequence

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlx_lm.sample_utils import make_logits_processors

from pie_mlx.calls import Sampler
from pie_mlx.engine.model.runner.penalties import penalized
from pie_mlx.engine.model.token_counts import NOTHING, CountedText

VOCABULARY = 40

texts = st.lists(st.integers(0, VOCABULARY - 1), max_size=60)
samplers = st.builds(
    Sampler.argmax().penalized,
    frequency=st.sampled_from([0.0, 0.3, -1.0]),
    presence=st.sampled_from([0.0, 0.7]),
    repetition=st.sampled_from([1.0, 1.3, 0.8]),
    bias=st.dictionaries(st.integers(0, VOCABULARY - 1), st.floats(-5, 5, width=32), max_size=3),
)
rows = st.lists(st.tuples(samplers, texts, texts), min_size=1, max_size=5)
Row = tuple[Sampler, list[int], list[int]]


def reference(row: np.ndarray, sampler: Sampler, prompt: Sequence[int], generated: Sequence[int]) -> np.ndarray:
    """L7 to the letter, in float64."""
    changed = row.astype(np.float64)
    for token, bias in sampler.logit_bias.items():
        changed[token] += bias
    for token in {*prompt, *generated}:
        repetition = sampler.repetition_penalty
        changed[token] = changed[token] / repetition if changed[token] > 0 else changed[token] * repetition
    for token, count in Counter(generated).items():
        changed[token] -= count * sampler.frequency_penalty + sampler.presence_penalty
    return changed


def computed(logits: np.ndarray, drawn: list[Row], *, late: bool = False) -> np.ndarray:
    """`late`: the last generated token of each row is there on the device alone."""
    cut = len(drawn) and late
    counts = [
        CountedText(len(prompt)).after([*prompt, *generated[: len(generated) - cut]]) if one.counts_tokens else None
        for one, prompt, generated in drawn
    ]
    last = mx.array([generated[-1] for _, _, generated in drawn]) if late else None
    return np.array(penalized(mx.array(logits), [one for one, _, _ in drawn], counts, last))


def noise(count: int) -> np.ndarray:
    return np.random.default_rng(count).normal(0, 3, (count, VOCABULARY)).astype(np.float32)


@given(drawn=rows)
def test_rows_are_penalised_as_numpy_would(drawn: list[Row]) -> None:  # L7
    logits = noise(len(drawn))
    for row, changed, one in zip(logits, computed(logits, drawn), drawn, strict=True):
        np.testing.assert_allclose(changed, reference(row, *one), rtol=1e-5, atol=1e-5)


@given(drawn=rows, last=st.integers(0, VOCABULARY - 1))
def test_a_token_that_is_still_being_drawn_counts_like_any_other(drawn: list[Row], last: int) -> None:  # L7, G11
    after = [(sampler, prompt, [*generated, last]) for sampler, prompt, generated in drawn]
    logits = noise(len(drawn))
    assert (computed(logits, after, late=True) == computed(logits, after)).all()


@given(drawn=rows)
def test_a_row_alone_is_what_it_is_among_others(drawn: list[Row]) -> None:  # L7
    logits = noise(len(drawn))
    alone = [computed(logits[place : place + 1], [one])[0] for place, one in enumerate(drawn)]
    assert (computed(logits, drawn) == np.stack(alone)).all()


def test_the_order_is_that_of_mlx_lm() -> None:
    prompt, text = [3, 4, 4, 5], [5, 6, 6, 7]
    sampler = Sampler.argmax().penalized(repetition=1.3, bias={5: 2.0, 6: -3.0})
    logits = noise(1)
    tokens, expected = mx.array([*prompt, *text]), mx.array(logits)
    for process in make_logits_processors({5: 2.0, 6: -3.0}, 1.3, repetition_context_size=100):
        expected = process(tokens, expected)  # pyright: ignore[reportArgumentType]
    np.testing.assert_allclose(computed(logits, [(sampler, prompt, text)]), np.array(expected), rtol=1e-6)


def test_logits_of_samplers_without_penalties_are_handed_on_as_they_are() -> None:
    logits = mx.array(noise(2))
    assert penalized(logits, [Sampler.argmax(), Sampler.top_p()], [None, None]) is logits


@given(prompt=texts, parts=st.lists(texts, max_size=4))
def test_counts_that_move_on_are_those_of_the_whole_text(prompt: list[int], parts: list[list[int]]) -> None:
    counts, text = CountedText(len(prompt)).after(prompt), list(prompt)
    for part in parts:
        counts, text = counts.after(part), text + part
    generated = Counter(text[len(prompt) :])
    assert counts.ids.tolist() == sorted({*text})
    assert counts.generated.tolist() == [generated[token] for token in sorted({*text})]


@pytest.mark.parametrize("held", [0, 3, 5, 9])
def test_what_is_known_of_a_text_is_read_on_from_there(held: int) -> None:
    text = [1, 2, 2, 3, 1, 1, 3, 5, 7]
    known = CountedText(4).up_to(held, lambda count: text[:held][-count:])
    moved = known.up_to(9, lambda count: text[-count:])
    assert moved.length == 9
    assert dict(zip(moved.counts.ids, moved.counts.generated, strict=True)) == {1: 2, 2: 0, 3: 1, 5: 1, 7: 1}
    assert known.since == 4
    assert len(NOTHING.ids) == 0
