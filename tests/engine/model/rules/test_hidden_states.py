"""Rules that read hidden states, against numpy."""

import mlx.core as mx
import numpy as np
import numpy.typing as npt
import pytest

from inferlet import rule
from inferlet.rules import Number, Row, RuleUse, Value, Vector, where
from pie_mlx.backends import using
from pie_mlx.engine.model.rules import evaluation
from pie_mlx.engine.model.rules.run import RuledRow, RuleRun, run_rules
from tests.backends.played import played_gpu

WIDTH, VOCABULARY, ROWS = 6, 40, 4
RANDOM = np.random.default_rng(8)
LOGITS = RANDOM.standard_normal((ROWS, VOCABULARY)).astype(np.float32)
HIDDEN = RANDOM.standard_normal((ROWS, WIDTH)).astype(np.float32)
MATRIX = RANDOM.standard_normal((3, WIDTH)).astype(np.float32)
BIAS = [0.5, -0.25, 0.0]
DIRECTIONS = RANDOM.standard_normal((ROWS, WIDTH)).astype(np.float32)


@rule
def classified(row: Row, towards: Vector, most: Number = 0.5) -> tuple[Value, dict[str, Number], Value]:
    scores = row.hidden_state.matmul(MATRIX.tolist()) + row.vector(BIAS)
    shares = (scores - scores.log_sum_exp()).exp()
    nearness = row.hidden_state.dot(towards) / towards.dot(towards).sqrt()
    return where(shares.at(1) > most, row.logits, row.logits / 2.0) - nearness, {}, shares.max() > 0.7


def expected(hidden: npt.NDArray[np.float32], towards: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    scores = hidden.astype(np.float64) @ MATRIX.T.astype(np.float64) + BIAS
    shares = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    nearness = (hidden * towards).sum(axis=-1) / np.sqrt((towards * towards).sum(axis=-1))
    return np.where(shares[:, 1:2] > 0.5, LOGITS, LOGITS / 2) - nearness[:, None]


def run(uses: list[RuleUse], places: list[int], dtype: mx.Dtype = mx.float32) -> RuleRun:
    rows = [RuledRow(use, 0, 0.0, place=place) for use, place in zip(uses, places, strict=True)]
    hidden = mx.array(HIDDEN).astype(dtype)
    return RuleRun(mx.array(LOGITS[: len(uses)]), range(len(uses)), rows, [None] * len(uses), None, hidden=hidden)


def test_each_row_has_its_own_hidden_state_and_vector() -> None:
    places = [2, 0, 3, 1]
    done = run([classified(towards=direction.tolist()) for direction in DIRECTIONS], places)
    np.testing.assert_allclose(np.array(done.answer), expected(HIDDEN[places], DIRECTIONS), rtol=1e-5, atol=1e-5)


def test_a_vector_that_is_the_same_for_all_rows_is_taken_once() -> None:
    done = run([classified(towards=DIRECTIONS[0].tolist())] * ROWS, [0, 1, 2, 3])
    np.testing.assert_allclose(np.array(done.answer), expected(HIDDEN, DIRECTIONS[:1]), rtol=1e-5, atol=1e-5)


def test_hidden_states_of_half_precision_are_read_as_float32() -> None:
    done = run([classified(towards=DIRECTIONS[0].tolist())] * ROWS, [0, 1, 2, 3], mx.bfloat16)
    assert done.answer.dtype == mx.float32


def test_an_end_depends_on_the_hidden_state() -> None:
    scores = HIDDEN @ MATRIX.T + BIAS
    shares = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    done = run([classified(towards=DIRECTIONS[0].tolist())] * ROWS, [0, 1, 2, 3])
    assert 0 < (shares.max(axis=-1) > 0.7).sum() < ROWS
    assert np.array(done.left_after(mx.zeros(ROWS))).ravel().tolist() == (shares.max(axis=-1) > 0.7).tolist()


def test_a_compiled_rule_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "compile_function", lambda function: function)
    evaluation.compiled_answer.cache_clear()
    uses = [classified(towards=direction.tolist()) for direction in DIRECTIONS[:3]]
    with using(played_gpu(None)):
        found = np.array(run(uses, [0, 1, 2]).answer)
    evaluation.compiled_answer.cache_clear()
    np.testing.assert_allclose(found, np.array(run(uses, [0, 1, 2]).answer), rtol=1e-5, atol=1e-6)


def test_rows_of_other_rules_keep_their_hidden_states_apart() -> None:
    use = classified(towards=DIRECTIONS[0].tolist())
    ruled = [None, RuledRow(use, 0, 0.0, place=1), None, RuledRow(use, 0, 0.0, place=3)]
    found, _ = run_rules(mx.array(LOGITS), ruled, [None] * ROWS, hidden=mx.array(HIDDEN))
    changed = expected(HIDDEN, DIRECTIONS[:1])
    np.testing.assert_allclose(np.array(found)[[1, 3]], changed[[1, 3]], rtol=1e-5, atol=1e-5)
    assert np.array_equal(np.array(found)[[0, 2]], LOGITS[[0, 2]])
