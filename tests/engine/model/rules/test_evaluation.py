"""A compiled rule gives what its operations give one by one, for any number of rows."""

import mlx.core as mx
import numpy as np
import pytest

from inferlet import rule
from inferlet.rules import Number, Row, Value, scatter, where
from pie_mlx.backends import using
from pie_mlx.engine.model.rules import evaluation
from pie_mlx.engine.model.rules.evaluation import compiled_answer
from pie_mlx.engine.model.rules.run import RuledRow, RuleRun
from pie_mlx.engine.model.token_counts import NOTHING
from tests.backends.played import played_gpu

ROWS = 3


@rule(candidates=8)
def everything(row: Row, mu: Number, rate: Number = 0.5) -> tuple[Value, dict[str, Number]]:
    kept = where(row.seen | (row.random < 0.5), row.logits * rate, row.logits - mu)
    moved = scatter(kept, row.tokens, 0.0) + row.logits.at(row.previous) + row.probabilities
    return moved, {"mu": moved.at(row.drawn)}


def run() -> RuleRun:
    logits = np.random.default_rng(3).standard_normal((ROWS, 50)).astype(np.float32)
    rows = [RuledRow(everything(mu=float(place)), place, 0.3 * place) for place in range(ROWS)]
    return RuleRun(mx.array(logits), range(ROWS), rows, [NOTHING.after([place, 7]) for place in range(ROWS)], None)


def test_a_compiled_rule_is_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    widths: list[int] = []

    def traced(function: evaluation.RowFunction) -> evaluation.RowFunction:
        """What MLX compiles: on a CPU it would run a C++ compiler."""

        def noted(given: list[mx.array]) -> mx.array:
            widths.append(max(len(one) for one in given))
            return function(given)

        return noted

    monkeypatch.setattr(evaluation, "compile_function", traced)
    compiled_answer.cache_clear()
    plain = run()
    with using(played_gpu(None)):
        compiled = run()
        drawn = mx.array([1, 2, 3])
        np.testing.assert_allclose(np.array(compiled.answer), np.array(plain.answer), rtol=1e-6)
        np.testing.assert_allclose(np.array(compiled.left_after(drawn)), np.array(plain.left_after(drawn)), rtol=1e-6)
    compiled_answer.cache_clear()
    assert widths == [4]
