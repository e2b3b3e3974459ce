"""How much attention pages get, against the definition of attention in float64."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pie_mlx.metal import LayerShape, page_scores
from tests.metal.test_attention import HEADS, LATENT, PLAIN, QUANTISED, Tokens, World, windows

SHAPES = {"plain": PLAIN, "latent": LATENT, "8 bits": QUANTISED[0], "latent in 8 bits": QUANTISED[2]}


def assert_scores(world: World) -> None:
    for found, expected in zip(*world.scores, strict=True):
        np.testing.assert_allclose(found, expected, atol=2e-6 * max(1, expected.max()))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@settings(max_examples=12)
@given(
    counts=st.lists(st.integers(1, 9), min_size=3, max_size=3),
    scored=st.integers(1, 6),
    window=windows,
    capped=st.booleans(),
    with_sinks=st.booleans(),
)
def test_scores_are_sums_of_attention_weights(
    shape: LayerShape, counts: list[int], scored: int, window: int | None, capped: bool, with_sinks: bool
) -> None:
    world = World(shape=shape)
    sequences = [Tokens() for _ in range(3)]
    world.step([(sequence, 7) for sequence in sequences])
    options = {"sinks": world.draw(HEADS) if with_sinks else None, "cap": 0.5 * capped, "window": window}
    for work in (zip(sequences, counts, strict=True), [(sequence, 1) for sequence in sequences]):
        world.step(list(work), scored=scored, **options)
        assert_scores(world)


def test_what_masks_hide_has_no_score() -> None:
    world = World()
    sequence = Tokens()
    world.step([(sequence, 9)])
    world.step([(sequence, 2)], masks=[[[4, 6], [4, 7]]], scored=2)
    assert_scores(world)
    ((found,), _) = world.scores
    np.testing.assert_allclose(found[:, 0], 0)
    np.testing.assert_allclose(found.sum(-1), 2, rtol=1e-5)


def test_rows_are_scored_in_parts_where_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_scores, "MOST_SCORES", 2 * HEADS * 20)
    world = World()
    sequence = Tokens()
    world.step([(sequence, 17)], scored=7)
    assert_scores(world)
