"""Values by token id against a loop over tokens, of the vocabulary and of candidates."""

import mlx.core as mx
import numpy as np
import numpy.typing as npt
import pytest

from inferlet import rule
from inferlet.rules import Number, Row, RuleUse, Value, Whole, scatter
from pie_mlx.engine.model.rules.run import RuledRow, RuleRun

VOCABULARY, CANDIDATES = 40, 8
Floats = npt.NDArray[np.float32]


def gathering(row: Row, by: Whole, times: Number) -> Value:
    """The logit of another token, in place of each token's own."""
    return row.logits.at((row.tokens.to_float() * times).to_integer()) + row.tokens.to_float() * 0


def scattering(row: Row, by: Whole, times: Number) -> Value:
    """Each token's logit is sent to another one."""
    return scatter(row.logits, (row.tokens.to_float() * times).to_integer(), -7.0)


def logits() -> Floats:
    return np.random.default_rng(2).standard_normal((3, VOCABULARY)).astype(np.float32)


def answer(function: object, candidates: int, times: list[float]) -> Floats:
    made = rule(candidates=candidates)(function) if candidates else rule(function)  # type: ignore[arg-type]
    uses: list[RuleUse] = [made(by=0, times=each) for each in times]
    run = RuleRun(mx.array(logits()), range(3), [RuledRow(use, 0, 0.0) for use in uses], [None] * 3, None)
    return np.array(run.answer)


@pytest.mark.parametrize("candidates", [0, CANDIDATES])
def test_a_row_is_read_and_written_by_token_id(candidates: int) -> None:
    times = [0.5, 2.0, -1.0]
    read, written = answer(gathering, candidates, times), answer(scattering, candidates, times)
    for row, (own, factor) in enumerate(zip(logits(), times, strict=True)):
        tokens = np.argsort(-own, kind="stable")[: candidates or VOCABULARY].tolist()
        others = {token: int(token * factor) for token in tokens}
        for token in range(VOCABULARY):
            if token not in tokens:
                assert read[row, token] == written[row, token] == -np.inf
                continue
            other = others[token]
            assert read[row, token] == (own[other] if other in tokens else own[tokens].min())
            sent = [own[one] for one in tokens if others[one] == token]
            assert written[row, token] == (max(sent) if sent else -7.0)
