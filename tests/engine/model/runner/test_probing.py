"""Probes against plain numpy, whatever else is asked in the same batch."""

import mlx.core as mx
import numpy as np
import pytest

from pie_mlx.calls import (
    HIGHEST_TEMPERATURE,
    Distribution,
    Entropy,
    EntropyValue,
    Logits,
    Logprob,
    Logprobs,
    LogprobValues,
    Probabilities,
    RawLogits,
)
from pie_mlx.engine.model.runner.probing import Probe, Probing

LOGITS = np.random.default_rng(5).normal(0, 3, (4, 50)).astype(np.float32)
LOGITS[2, 7:30] = -np.inf
LOGPROBS = LOGITS.astype(np.float64) - np.log(np.exp(LOGITS.astype(np.float64)).sum(-1, keepdims=True))

ASKED: list[tuple[int, Probe]] = [
    (3, Logprobs([4, 4, 49])),
    (0, Entropy()),
    (1, Logits()),
    (1, Logprob(3)),
    (2, Distribution(0.7, 5)),
    (2, Entropy()),
    (3, Logprob(0)),
]


def answers(asked: list[tuple[int, Probe]]) -> list[object]:
    probing = Probing(mx.array(LOGITS), asked)
    mx.eval(probing.outputs)
    return list(probing.collect())


def test_each_question_is_answered_in_its_place() -> None:  # F9, F11
    kinds = [type(answer) for answer in answers(ASKED)]
    values, entropy, raw, one, likely = LogprobValues, EntropyValue, RawLogits, LogprobValues, Probabilities
    assert kinds == [values, entropy, raw, one, likely, entropy, one]


@pytest.mark.parametrize("place", range(len(ASKED)))
def test_an_answer_does_not_depend_on_the_other_questions(place: int) -> None:  # E1
    assert answers(ASKED)[place] == answers([ASKED[place]])[0]


@pytest.mark.parametrize(("row", "ids"), [(0, [1]), (3, [4, 4, 49]), (2, [0, 49])])
def test_log_probabilities_are_those_of_the_whole_row(row: int, ids: list[int]) -> None:
    (answer,) = answers([(row, Logprobs(ids))])
    assert isinstance(answer, LogprobValues)
    assert np.allclose(answer.values, LOGPROBS[row, ids], atol=1e-4)


@pytest.mark.parametrize("row", [0, 2])
def test_entropy_counts_forbidden_tokens_as_nothing(row: int) -> None:
    kept = LOGPROBS[row][np.isfinite(LOGPROBS[row])]
    (answer,) = answers([(row, Entropy())])
    assert isinstance(answer, EntropyValue)
    assert answer.nats == pytest.approx(-(np.exp(kept) * kept).sum(), abs=1e-4)


def test_logits_come_as_they_are() -> None:
    (answer,) = answers([(1, Logits())])
    assert isinstance(answer, RawLogits)
    assert np.array_equal(np.frombuffer(answer.data, np.float32), LOGITS[1])


@pytest.mark.parametrize("k", [50, 2**31, 2**64 - 1])
def test_a_k_beyond_the_vocabulary_is_the_vocabulary(k: int) -> None:  # L4
    assert answers([(0, Distribution(0.7, k))]) == answers([(0, Distribution(0.7, 0))])


@pytest.mark.parametrize("temperature", [5e-324, 1e-20])
def test_the_most_likely_token_of_a_cold_row_has_all_of_it(temperature: float) -> None:  # L4
    (answer,) = answers([(2, Distribution(temperature, 2))])
    assert isinstance(answer, Probabilities)
    assert (answer.token_ids[0], answer.probabilities) == (LOGITS[2].argmax(), [1.0, 0.0])


def test_a_hot_row_is_even_where_nothing_is_forbidden() -> None:  # L4
    (answer,) = answers([(2, Distribution(HIGHEST_TEMPERATURE))])
    assert isinstance(answer, Probabilities)
    allowed = int(np.isfinite(LOGITS[2]).sum())
    assert answer.probabilities == pytest.approx([1 / allowed] * allowed + [0.0] * (50 - allowed))
