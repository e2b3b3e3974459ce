"""Tokens drawn under rules are as often each as the rule's distribution says: a chi-square of thousands of draws."""

import math
from collections.abc import Callable

import mlx.core as mx
import numpy as np
import numpy.typing as npt
import pytest

from inferlet import rules
from pie_mlx.calls import MOST_DRAWS, RuleUse, Sampler
from pie_mlx.engine.model.rules.run import RuledRow
from pie_mlx.engine.model.runner.batch import Draws
from pie_mlx.engine.model.runner.drawing import from_whole_row
from pie_mlx.engine.model.runner.randomness import uniform
from pie_mlx.engine.model.runner.sampling import prepared
from pie_mlx.metal.arrays import host_view

Doubles = npt.NDArray[np.float64]

VOCABULARY, DRAWS, STREAM, PREVIOUS = 12, 4_000, 5, 3
LOGITS = np.linspace(2.0, -2.0, VOCABULARY).astype(np.float32)
ONE_IN_A_THOUSAND = (0, 10.83, 13.82, 16.27, 18.47, 20.52, 22.46, 24.32, 26.12, 27.88, 29.59, 31.26)
"""What a chi-square exceeds once in a thousand times, by its degrees of freedom."""


def softmax(logits: Doubles) -> Doubles:
    mass = np.exp(logits - logits.max())
    return mass / mass.sum()


LIKELY = softmax(LOGITS.astype(np.float64))


def among(kept: npt.NDArray[np.bool_]) -> Doubles:
    return np.where(kept, LIKELY, 0.0) / LIKELY[kept].sum()


def min_p() -> Doubles:
    return among(0.2 * LIKELY.max() <= LIKELY)


def top_n_sigma() -> Doubles:
    return among(LOGITS.max() - LOGITS <= LOGITS.std())


def eta() -> Doubles:
    entropy = -(LIKELY * np.log(LIKELY)).sum()
    return among(min(0.05, math.sqrt(0.05) * math.exp(-entropy)) <= LIKELY)


def typical() -> Doubles:
    unusual = np.abs(-np.log(LIKELY) + (LIKELY * np.log(LIKELY)).sum())
    order = np.argsort(unusual)
    last = order[np.searchsorted(np.cumsum(LIKELY[order]), 0.6)]
    return among(unusual <= unusual[last])


def xtc() -> Doubles:
    """Three times in ten without the top choices but the last: a mixture of two distributions."""
    over = np.flatnonzero(LIKELY >= 0.1)
    return 0.7 * LIKELY + 0.3 * among(np.arange(VOCABULARY) >= over[-1])


def watermark() -> Doubles:
    green = [rules.green_share([PREVIOUS, token], 21, 0.5) for token in range(VOCABULARY)]
    return softmax(LOGITS + 1.5 * np.array(green))


def mirostat() -> Doubles:
    return among(-np.log2(LIKELY) <= 4.0)


def entropy_temperature() -> Doubles:
    return softmax(LOGITS.astype(np.float64) / 1.2)


CASES: dict[str, tuple[RuleUse, Callable[[], Doubles]]] = {
    "min_p": (rules.min_p(p=0.2), min_p),
    "top_n_sigma": (rules.top_n_sigma(n=1.0), top_n_sigma),
    "eta": (rules.eta(epsilon=0.05), eta),
    "typical": (rules.typical(mass=0.6), typical),
    "xtc": (rules.xtc(threshold=0.1, probability=0.3), xtc),
    "watermark": (rules.watermark(key=21, gamma=0.5, delta=1.5), watermark),
    "mirostat": (rules.mirostat(mu=4.0), mirostat),
    "entropy_temperature": (rules.entropy_temperature(nats=1.0), entropy_temperature),
}


def drawn(use: RuleUse) -> npt.NDArray[np.uint32]:
    """A token of each of many equal rows, each at its own place of one random stream."""
    draws, sampler = Draws(), Sampler.multinomial(1.0).ruled(use)
    for row in range(DRAWS):
        ruled = RuledRow(use, PREVIOUS, uniform(STREAM, row, MOST_DRAWS))
        draws.add(row, sampler, uniform(STREAM, row, 0), rule=ruled)
    rows, _ = prepared(draws, mx.broadcast_to(mx.array(LOGITS), (DRAWS, VOCABULARY)))
    return host_view(from_whole_row(rows, draws))


def misfit(seen: npt.NDArray[np.int64], distribution: Doubles) -> float:
    """Pearson's chi-square of how often each token was drawn."""
    expected = DRAWS * distribution
    return float(((seen - expected) ** 2 / expected).sum())


@pytest.mark.parametrize("name", CASES)
def test_tokens_are_drawn_as_often_as_the_rule_of_the_library_says(name: str) -> None:
    use, distribution = CASES[name]
    expected = distribution()
    seen = np.bincount(drawn(use), minlength=VOCABULARY)
    possible = expected > 0
    assert not seen[~possible].any()
    assert misfit(seen[possible], expected[possible]) < ONE_IN_A_THOUSAND[possible.sum() - 1]
    assert misfit(seen, LIKELY) > ONE_IN_A_THOUSAND[-1], "nothing shows that there was a rule"
