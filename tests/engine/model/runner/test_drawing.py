"""Samplers against plain numpy, and their rules."""

from collections.abc import Iterable
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.calls import HIGHEST_TEMPERATURE, Sampler
from pie_mlx.engine.model.runner import drawing, sampling
from pie_mlx.engine.model.runner.batch import Draws
from pie_mlx.errors import InvalidArgumentError

VOCABULARY = 400


def pack(allowed: list[int], vocabulary: int = VOCABULARY) -> np.ndarray:
    bits = np.zeros((vocabulary + 31) // 32 * 32, np.uint8)
    bits[allowed] = 1
    return np.packbits(bits, bitorder="little").view(np.uint32)


def reference(row: np.ndarray, sampler: Sampler, uniform: float) -> int:
    """L1 to the letter, in float64."""
    scaled = row.astype(np.float64) / sampler.temperature
    probabilities = np.exp(scaled - scaled.max())
    probabilities /= probabilities.sum()
    order = np.argsort(-probabilities, kind="stable")
    falling = probabilities[order]
    keep = np.ones(len(row), bool)
    if sampler.k:
        keep &= np.arange(len(row)) < sampler.k
    if sampler.p < 1:
        keep &= np.cumsum(falling) - falling < sampler.p
    keep &= falling >= sampler.min_probability * falling[0]
    keep[0] = True
    kept = set(order[keep].tolist())
    ids = order if drawing.needs_order(sampler) else np.arange(len(row))
    mass = np.array([probabilities[i] if i in kept else 0.0 for i in ids])
    return int(ids[np.searchsorted(np.cumsum(mass), uniform * mass.sum(), side="right")])


def draws_of(rows: Iterable[tuple[Any, ...]]) -> Draws:
    """Each a row, a sampler, a random number, and maybe a mask."""
    draws = Draws()
    for row in rows:
        draws.add(*row)
    return draws


def draw(logits: np.ndarray, rows: Iterable[tuple[Any, ...]], candidates: int = 256) -> list[int]:
    draws = draws_of(rows)
    array, _ = sampling.prepared(draws, mx.array(logits))
    sampler = draws.samplers[0]
    if sampler.is_argmax:
        return sampling.argmax(array).tolist()
    if not drawing.needs_order(sampler):
        return drawing.from_whole_row(array, draws).tolist()
    tokens, certain = drawing.from_most_likely(array, draws, candidates)
    again, _ = drawing.from_most_likely(array, draws, array.shape[-1])
    return [t if sure else a for t, sure, a in zip(tokens.tolist(), certain.tolist(), again.tolist(), strict=True)]


samplers = st.one_of(
    st.builds(Sampler.multinomial, st.floats(0.3, 3)),
    st.builds(Sampler.top_k, st.floats(0.3, 3), st.integers(0, 60)),
    st.builds(Sampler.top_p, st.floats(0.3, 3), st.floats(0, 0.999)),
    st.builds(Sampler.min_p, st.floats(0.3, 3), st.floats(0, 1)),
    st.builds(Sampler.top_k_top_p, st.floats(0.3, 3), st.integers(1, 60), st.floats(0, 0.999)),
)


@given(st.integers(0, 2**31), samplers, st.floats(0, 0.999))
def test_a_draw_is_the_one_the_rules_give(seed: int, sampler: Sampler, uniform: float) -> None:  # L1
    row = np.random.default_rng(seed).normal(size=VOCABULARY).astype(np.float32) * 3
    token = draw(row[None], [(0, sampler, uniform)], candidates=16)[0]
    nearby = {reference(row, sampler, min(max(uniform + shift, 0), 0.9999)) for shift in (-1e-5, 0, 1e-5)}
    assert token in nearby


def test_argmax_ties_go_to_the_lowest_id() -> None:  # L1
    assert draw(np.array([[1.0, 5.0, 5.0]], np.float32), [(0, Sampler.argmax(), 0.0)]) == [1]


def test_equal_probabilities_rank_by_id() -> None:  # L1
    row = np.zeros((1, VOCABULARY), np.float32)
    drawn = {draw(row, [(0, Sampler.top_k(1.0, 3), u)])[0] for u in (0.0, 0.4, 0.7, 0.999)}
    assert drawn == {0, 1, 2}


@pytest.mark.parametrize("k", [2**31, 2**64 - 1])
def test_a_k_beyond_the_vocabulary_is_the_vocabulary(k: int) -> None:  # L1
    row = np.random.default_rng(4).normal(size=(1, VOCABULARY)).astype(np.float32)
    beyond, all_of_it = ([(0, Sampler.top_k(1.0, n), u / 20) for u in range(20)] for n in (k, VOCABULARY))
    assert draw(row, beyond) == draw(row, all_of_it)


@pytest.mark.parametrize(
    "sampler",
    [Sampler.top_p(0.0), Sampler.top_k(1e-6), Sampler.multinomial(0.0), Sampler.min_p(0.0), Sampler.top_k_top_p(0.0)],
)
def test_a_temperature_of_nothing_is_argmax(sampler: Sampler) -> None:  # L2
    assert sampler.is_argmax


@pytest.mark.parametrize(
    "arguments",
    [
        {"temperature": -1.0},
        {"temperature": float("nan")},
        {"temperature": 1.1e30},
        {"k": -1},
        {"p": 1.5},
        {"p": -0.1},
        {"draws": 0},
    ],
)
def test_arguments_outside_their_range_are_refused(arguments: dict[str, float]) -> None:  # L2
    with pytest.raises(InvalidArgumentError, match="sampler: "):
        Sampler(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "sampler",
    [Sampler.argmax(), Sampler.multinomial(100.0), Sampler.top_k(1.0), Sampler.top_p(), Sampler.min_p()],
)
def test_every_sampler_obeys_a_mask(sampler: Sampler) -> None:  # T36
    row = np.random.default_rng(0).normal(size=(1, VOCABULARY)).astype(np.float32)
    tokens = {draw(row, [(0, sampler, u / 50, pack([5, 9]))])[0] for u in range(50)}
    assert tokens <= {5, 9}
    if sampler.temperature == 100.0:
        assert tokens == {5, 9}


@pytest.mark.parametrize("temperature", [5e-324, 1e-300, 1.1e-5, 1e20, HIGHEST_TEMPERATURE])
@pytest.mark.parametrize("p", [0.0, 5e-324, 1e-300, 1 - 2**-53, 1.0])
@pytest.mark.parametrize("kind", [Sampler.multinomial, Sampler.top_k, Sampler.top_p, Sampler.min_p])
def test_no_temperature_and_no_filter_lifts_a_mask(kind: Any, p: float, temperature: float) -> None:  # T36, F9, L2
    sampler = kind(temperature, p) if kind in (Sampler.top_p, Sampler.min_p) else kind(temperature)
    row = np.random.default_rng(0).normal(size=(1, VOCABULARY)).astype(np.float32) * 30
    for uniform in (0.0, 0.5, 1 - 2**-23):
        assert draw(row, [(0, sampler, uniform, pack([5, 9]))])[0] in {5, 9}


@pytest.mark.parametrize("error", [1e-3, -1e-3])
@pytest.mark.parametrize("sampler", [Sampler.multinomial(100.0), Sampler.top_k(9.0, 40), Sampler.min_p(9.0, 0.01)])
def test_a_running_sum_that_wavers_draws_no_forbidden_token(
    sampler: Sampler, error: float, monkeypatch: pytest.MonkeyPatch
) -> None:  # F9
    exact = mx.cumsum

    def wavering(values: mx.array, axis: int) -> mx.array:
        """As a parallel sum may be: every block of eight entries is off by another rounding error."""
        block = mx.arange(values.shape[axis]) // 8 % 3 - 1
        return exact(values, axis=axis) * (1 + error * block)

    monkeypatch.setattr(mx, "cumsum", wavering)
    allowed = [5, 9, 100, 333, 390]
    row = np.random.default_rng(0).normal(size=(1, VOCABULARY)).astype(np.float32)
    uniforms = [0.0, 1 - 2**-23, *np.random.default_rng(1).random(300).tolist()]
    tokens = {draw(row, [(0, sampler, uniform, pack(allowed))])[0] for uniform in uniforms}
    assert tokens <= set(allowed)
    assert len(tokens) > 1


def test_a_mask_leaves_other_rows_alone() -> None:  # F9
    logits = np.random.default_rng(1).normal(size=(2, VOCABULARY)).astype(np.float32)
    free = draw(logits, [(0, Sampler.argmax(), 0), (1, Sampler.argmax(), 0)])
    masked = draw(logits, [(0, Sampler.argmax(), 0), (1, Sampler.argmax(), 0, pack([7]))])
    assert masked == [free[0], 7]


@given(st.integers(0, 2**31), samplers, st.lists(st.floats(0, 0.999), min_size=2, max_size=6))
def test_a_row_does_not_depend_on_its_company(seed: int, sampler: Sampler, numbers: list[float]) -> None:  # Q10
    logits = np.random.default_rng(seed).normal(size=(len(numbers), VOCABULARY)).astype(np.float32) * 3
    together = draw(logits, [(row, sampler, u) for row, u in enumerate(numbers)], candidates=32)
    alone = [draw(logits[row : row + 1], [(0, sampler, u)], candidates=32)[0] for row, u in enumerate(numbers)]
    assert together == alone


def test_a_row_that_keeps_more_than_the_candidates_is_not_certain() -> None:
    logits = mx.zeros((1, VOCABULARY))
    _, certain = drawing.from_most_likely(logits, draws_of([(0, Sampler.top_p(1.0, 0.9), 0.5)]), 16)
    assert certain.tolist() == [False]
