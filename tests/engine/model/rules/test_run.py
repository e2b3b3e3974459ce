"""Every rule of the library against a direct computation in float64, and what happens at the edges of a row."""

import math
from collections.abc import Callable

import mlx.core as mx
import numpy as np
import numpy.typing as npt
import pytest

from inferlet import rule, rules
from inferlet.rules import Number, Row, RuleUse, Value, Whole, where
from pie_mlx.calls import FORBIDDEN
from pie_mlx.engine.model.rules.run import RuledRow, RuleRun, StateRow, run_rules
from pie_mlx.engine.model.token_counts import NOTHING, TokenCounts
from pie_mlx.errors import InvalidArgumentError

Doubles = npt.NDArray[np.float64]

VOCABULARY, ROWS = 1_001, 5
PREVIOUS = [3, 900, 17, 17, 0]
RANDOM = [0.1, 0.2, 0.6, 0.9, 0.0]


def rows(seed: int = 0) -> npt.NDArray[np.float32]:
    return (np.random.default_rng(seed).standard_normal((ROWS, VOCABULARY)) * 2.5).astype(np.float32)


def run(
    logits: npt.NDArray[np.float32],
    uses: list[RuleUse],
    counts: list[TokenCounts | None] | None = None,
    before: StateRow | None = None,
) -> RuleRun:
    ruled = [
        RuledRow(use, previous, random, before) for use, previous, random in zip(uses, PREVIOUS, RANDOM, strict=False)
    ]
    return RuleRun(mx.array(logits), range(len(uses)), ruled, counts or [None] * len(uses), None)


def log_probabilities(row: Doubles) -> Doubles:
    return row - row.max() - np.log(np.exp(row - row.max()).sum())


def cut(row: Doubles, keep: npt.NDArray[np.bool_]) -> Doubles:
    return np.where(keep, row, -np.inf)


def min_p(row: Doubles, place: int, p: float) -> Doubles:
    probabilities = np.exp(log_probabilities(row))
    return cut(row, probabilities >= p * probabilities.max())


def top_n_sigma(row: Doubles, place: int, n: float) -> Doubles:
    return cut(row, row >= row.max() - n * row.std())


def eta(row: Doubles, place: int, epsilon: float) -> Doubles:
    logs = log_probabilities(row)
    entropy = -(np.exp(logs) * logs).sum()
    floor = min(epsilon, math.sqrt(epsilon) * math.exp(-entropy))
    return cut(row, (np.exp(logs) >= floor) | (logs == logs.max()))


def typical(row: Doubles, place: int, mass: float) -> Doubles:
    chosen = np.argsort(-row, kind="stable")[:256]
    logs = log_probabilities(row)[chosen]
    share = np.exp(logs) / np.exp(logs).sum()
    unusual = np.abs(-logs - (share * -logs).sum())
    order = np.argsort(unusual, kind="stable")
    last = int(np.searchsorted(np.cumsum(share[order]), mass))
    keep = np.zeros(len(row), bool)
    keep[chosen[unusual <= unusual[order[last]]]] = True
    return cut(row, keep)


def xtc(row: Doubles, place: int, threshold: float, probability: float) -> Doubles:
    probabilities = np.exp(log_probabilities(row))
    over = np.flatnonzero(probabilities >= threshold)
    kept = np.zeros(len(row), bool)
    kept[np.argsort(-row, kind="stable")[:256]] = True
    if len(over) >= 2 and RANDOM[place] < probability:
        kept[over[probabilities[over] > probabilities[over].min()]] = False
    return cut(row, kept)


def entropy_temperature(row: Doubles, place: int, nats: float, unsure: float, sure: float) -> Doubles:
    logs = log_probabilities(row)
    return row / (unsure if -(np.exp(logs) * logs).sum() > nats else sure)


def watermark(row: Doubles, place: int, key: int, gamma: float, delta: float) -> Doubles:
    share = [rules.green_share([PREVIOUS[place], token], key, gamma) for token in range(len(row))]
    return row + delta * np.array(share)


REFERENCES: dict[str, tuple[Callable[..., Doubles], list[dict[str, float]]]] = {
    "min_p": (min_p, [{"p": p} for p in (0.01, 0.05, 0.1, 0.3, 0.9)]),
    "top_n_sigma": (top_n_sigma, [{"n": n} for n in (0.5, 1.0, 1.5, 2.0, 0.0)]),
    "eta": (eta, [{"epsilon": e} for e in (3e-4, 1e-3, 9e-4, 2e-3, 0.5)]),
    "typical": (typical, [{"mass": m} for m in (0.2, 0.5, 0.9, 0.95, 0.05)]),
    "xtc": (xtc, [{"threshold": t, "probability": 0.5} for t in (0.01, 0.02, 0.05, 0.01, 0.005)]),
    "entropy_temperature": (
        entropy_temperature,
        [{"nats": n, "unsure": 1.2, "sure": 0.3} for n in (1.0, 4.0, 5.0, 2.0, 9.0)],
    ),
    "watermark": (watermark, [{"key": k, "gamma": 0.25, "delta": 2.0} for k in (0, 1, 99, 2**23, 2**24 - 1)]),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_a_rule_of_the_library_agrees_with_its_formula(name: str) -> None:
    reference, parameters = REFERENCES[name]
    uses = [getattr(rules, name)(**own) for own in parameters]
    logits = rows()
    found = np.array(run(logits, uses).answer.astype(mx.float32))
    expected = np.stack(
        [
            reference(row.astype(np.float64), place, **own)
            for place, (row, own) in enumerate(zip(logits, parameters, strict=True))
        ]
    )
    assert (np.isinf(found) == np.isinf(expected)).all()
    kept = ~np.isinf(expected)
    np.testing.assert_allclose(found[kept], expected[kept], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", REFERENCES)
def test_a_row_of_a_batch_is_computed_as_alone(name: str) -> None:
    uses = [getattr(rules, name)(**own) for own in REFERENCES[name][1]]
    together = run(rows(), uses).answer
    alone = run(rows()[:1], uses[:1]).answer
    assert mx.array_equal(together[:1], alone)


def hashed(*parts: npt.NDArray[np.uint32]) -> Doubles:
    mixed = np.full(len(parts[0]), 0x9E3779B9, np.uint32)
    for part in parts:
        mixed = mixed ^ part
        for factor, shift in ((0x7FEB352D, 15), (0x846CA68B, 16)):
            mixed = (mixed ^ (mixed >> 16)) * np.uint32(factor)
            mixed = mixed ^ (mixed >> shift)
    return (mixed >> 8) / 2.0**24


@pytest.mark.parametrize("gamma", [0.25, 0.5])
def test_the_z_score_of_a_watermark_counts_each_pair_of_tokens_once(gamma: float) -> None:
    tokens = np.random.default_rng(1).integers(0, 40, 500).astype(np.uint32)
    pairs = np.unique(np.stack([tokens[1:], tokens[:-1]], axis=-1), axis=0)
    green = hashed(pairs[:, 0], pairs[:, 1], np.full(len(pairs), 9, np.uint32)) < gamma
    expected = (green.sum() - gamma * len(pairs)) / np.sqrt(len(pairs) * gamma * (1 - gamma))
    assert len(pairs) < 499
    assert rules.watermark_z_score(tokens.tolist(), 9, gamma) == pytest.approx(expected)


def test_one_token_has_no_z_score() -> None:
    with pytest.raises(InvalidArgumentError, match="1 tokens have no pair"):
        rules.watermark_z_score([5], 9)


def lengths_of_repetitions(text: list[int], breakers: list[int]) -> dict[int, int]:
    """By the token that follows, the longest part of the text's end that occurred before it."""
    found: dict[int, int] = {}
    for end in range(len(text) - 1):
        length = 0
        while length <= end and text[end - length] == text[-1 - length] and text[-1 - length] not in breakers:
            length += 1
        found[text[end + 1]] = max(found.get(text[end + 1], 0), length)
    return found


@pytest.mark.parametrize("is_drawn", [False, True], ids=["counted", "still being drawn"])
@pytest.mark.parametrize("breakers", [[], [2]], ids=["unbroken", "broken"])
def test_dry_lowers_what_would_repeat_the_text(is_drawn: bool, breakers: list[int]) -> None:
    random, logits = np.random.default_rng(4), rows()
    texts: list[list[int]] = [random.integers(0, 3, 60).tolist() for _ in range(ROWS - 1)] + [[7]]
    parameters = [{"multiplier": 0.5 + row, "base": 1.2, "allowed": float(1 + row)} for row in range(ROWS)]
    counts: list[TokenCounts | None] = [NOTHING.after(text[:-1] if is_drawn else text) for text in texts]
    last = [text[-1] for text in texts]
    ruled = [
        RuledRow(rules.dry(**own, breakers=breakers), token, 0.0) for own, token in zip(parameters, last, strict=True)
    ]
    found, _ = run_rules(mx.array(logits), ruled, counts, mx.array(last) if is_drawn else None)
    expected = logits.astype(np.float64)
    for row, (text, own) in enumerate(zip(texts, parameters, strict=True)):
        for token, length in lengths_of_repetitions(text, breakers).items():
            if length >= own["allowed"] and token not in breakers:
                expected[row, token] -= own["multiplier"] * own["base"] ** (length - own["allowed"])
    assert (expected != logits).any()
    np.testing.assert_allclose(np.array(found), expected, rtol=1e-5, atol=1e-5)


def test_an_entropy_gate_opens_where_the_model_is_unsure_and_then_rests() -> None:
    logits = rows()[:2]
    logits[1, 9] = 60.0
    done = run(logits, [rules.entropy_gate(5, nats=1.0, bonus=2.0, pause=8.0)] * 2)
    found = np.array(done.answer)
    assert found[0, 5] == pytest.approx(logits[0].max() + 2.0)
    assert np.array_equal(found[1], logits[1])
    assert done.left_after(mx.array([5, 9])).tolist() == [[8.0], [-1.0]]
    resting = run(logits[:1], [rules.entropy_gate(5, nats=1.0).after([1.0])])
    assert np.array_equal(np.array(resting.answer), logits[:1])


def test_mirostat_cuts_what_surprises_and_moves_towards_its_target() -> None:
    logits, mu, tau, rate = rows(), 6.0, 3.0, 0.2
    done = run(logits, [rules.mirostat(tau, rate)] * ROWS)
    drawn = np.argmax(logits, axis=-1)
    states = np.array(done.left_after(mx.array(drawn)))
    for row, token, found, state in zip(logits.astype(np.float64), drawn, np.array(done.answer), states, strict=True):
        surprise = -log_probabilities(row) / math.log(2)
        kept = (surprise <= mu) | (surprise == surprise.min())
        assert (np.isinf(found) == ~kept).all()
        observed = -log_probabilities(cut(row, kept))[token] / math.log(2)
        np.testing.assert_allclose(state, [mu - rate * (observed - tau)], rtol=1e-5)


def test_the_states_that_a_step_leaves_are_those_of_the_next_one() -> None:
    use = rules.mirostat(3.0, 0.2)
    carried = run(rows()[:1], [use], before=StateRow(mx.array([[1.0], [2.5]]), 1))
    given = run(rows()[:1], [use.after([2.5])])
    assert mx.array_equal(carried.answer, given.answer)


@rule
def _liked(row: Row, bonus: Number = 1.0) -> Value:
    return where(row.seen, row.logits - bonus * row.generated, row.logits)


def test_a_rule_reads_what_the_text_has_and_how_often_it_was_generated() -> None:
    counts = NOTHING.after([2, 5, 5, 5, 9], prompt=1)
    logits = rows()[:2]
    found = np.array(run(logits, [_liked()] * 2, [counts, None]).answer)
    expected = logits.copy()
    expected[0, [5, 9]] -= [3, 1]
    np.testing.assert_allclose(found, expected)


def test_a_token_that_is_still_being_drawn_counts() -> None:
    counts = NOTHING.after([2, 5, 5, 5], prompt=1)
    ruled: list[RuledRow | None] = [RuledRow(_liked(), 0, 0.0), RuledRow(_liked(), 0, 0.0)]
    logits = rows()[:2]
    changed, _ = run_rules(mx.array(logits), ruled, [counts, counts], mx.array([5, 7]))
    expected = logits.copy()
    expected[0, 5] -= 4
    expected[1, [5, 7]] -= [3, 1]
    np.testing.assert_allclose(np.array(changed), expected)


@rule
def _outside(row: Row, token: Whole) -> Value:
    return row.logits - row.logits.at(token)


def test_a_token_outside_the_vocabulary_has_the_smallest_value_of_the_row() -> None:
    logits = rows()[:3]
    found = np.array(run(logits, [_outside(token=token) for token in (-1, VOCABULARY, 4)]).answer)
    lowest = logits.min(-1)
    expected = logits - np.array([lowest[0], lowest[1], logits[2, 4]])[:, None]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@rule
def _forbids_all(row: Row) -> Value:
    return where(row.logits > 1e9, row.logits, -math.inf)


def test_a_rule_that_leaves_nothing_leaves_the_row_as_it_was() -> None:
    logits = rows()[:1]
    assert np.array_equal(np.array(run(logits, [_forbids_all()]).answer), logits)


def test_forbidden_tokens_stay_out_of_every_rule_of_the_library() -> None:
    logits = rows()
    logits[:, 7:] = -np.inf
    for name, (_, parameters) in REFERENCES.items():
        done = run(logits, [getattr(rules, name)(**own) for own in parameters])
        assert not done.failed.any()
        assert (np.array(done.answer)[:, 7:] < FORBIDDEN / 10).all()


@rule
def _divides(row: Row, by: Number) -> Value:
    halves = row.logits / 2.0
    return halves / by


def test_a_result_that_is_no_number_is_found_with_its_line() -> None:
    done = run(rows()[:2], [_divides(by=1.0), _divides(by=0.0)])
    assert done.failed.tolist() == [False, True]
    line = _divides.__wrapped__.__code__.co_firstlineno + 3
    assert done.failed_line(1) == line


def test_rows_without_a_rule_and_rows_of_other_rules_are_not_touched() -> None:
    logits = rows()[:3]
    ruled = [RuledRow(rules.min_p(p=0.5), 0, 0.0), None, RuledRow(rules.top_n_sigma(n=1.0), 0, 0.0)]
    changed, runs = run_rules(mx.array(logits), ruled, [None] * 3)
    assert len(runs) == 2
    alone = [run(logits[:1], [rules.min_p(p=0.5)]).answer, mx.array(logits[1:2])]
    alone.append(run(logits[2:], [rules.top_n_sigma(n=1.0)]).answer)
    assert mx.array_equal(changed, mx.concatenate(alone))
