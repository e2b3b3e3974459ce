"""Draws that are scored, against plain numpy, and what rules make of a token that was drawn once more."""

import mlx.core as mx
import numpy as np
import pytest

from inferlet import rule
from inferlet.rules import Row, Value
from pie_mlx.calls import SampledTokens, Sampler
from pie_mlx.engine.model.runner.batch import LogitsRequest
from pie_mlx.engine.model.runner.sampling import CANDIDATES, Sampling

VOCABULARY = 4 * CANDIDATES
LOGITS = np.random.default_rng(5).normal(0, 3, (3, VOCABULARY)).astype(np.float32)
LOGPROBS = LOGITS.astype(np.float64) - np.log(np.exp(LOGITS.astype(np.float64)).sum(-1, keepdims=True))

REACHES_BEYOND_THE_CANDIDATES = Sampler.top_p(1e3, 0.9)
ALL_KINDS = [Sampler.argmax(), Sampler.multinomial(1.0, 3), Sampler.top_k(1.0, 5), REACHES_BEYOND_THE_CANDIDATES]


def read(reads: list[tuple[int, Sampler]]) -> list[SampledTokens]:
    rows = [(row, LogitsRequest(row, sampler, stream=7, counter=place)) for place, (row, sampler) in enumerate(reads)]
    reading = Sampling(mx.array(LOGITS), [rows])
    mx.eval(reading.outputs)
    (results,) = reading.collect()
    return [result for result in results if isinstance(result, SampledTokens)]


@pytest.mark.parametrize("sampler", ALL_KINDS)
def test_every_kind_of_draw_is_scored_at_temperature_1(sampler: Sampler) -> None:
    for row, result in enumerate(read([(row, sampler.scored()) for row in range(3)])):
        assert result.logprobs == pytest.approx(LOGPROBS[row, result.tokens].tolist(), abs=1e-4)


def test_draws_that_are_scored_and_others_do_not_mix() -> None:
    reads = [(row, sampler.scored() if row else sampler) for sampler in ALL_KINDS for row in (2, 0, 1)]
    plain = read([(row, sampler) for sampler in ALL_KINDS for row in (2, 0, 1)])
    for (row, sampler), result, unscored in zip(reads, read(reads), plain, strict=True):
        assert result.tokens == unscored.tokens
        wanted = LOGPROBS[row, result.tokens].tolist() if sampler.scores else []
        assert result.logprobs == pytest.approx(wanted, abs=1e-4)


@rule
def _after_large_ids(row: Row) -> Value:
    return row.drawn.to_float() >= VOCABULARY / 2


def test_a_text_ends_by_the_token_that_was_drawn_in_the_end() -> None:
    reads = [(row, REACHES_BEYOND_THE_CANDIDATES.ruled(_after_large_ids())) for row in (0, 1, 2) * 8]
    results = read(reads)
    assert [result.ended for result in results] == [result.tokens[0] >= VOCABULARY / 2 for result in results]
    assert {result.ended for result in results} == {True, False}
