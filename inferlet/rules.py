"""Rules from papers, and what rules are written with.

    sampler = Sampler.multinomial(0.8).ruled(rules.typical(mass=0.9))

Each changes a row of logits; the sampler then draws from it, with its own temperature and filters.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import pairwise
from math import inf, log, sqrt
from typing import TypeVar

from inferlet._calls.checks import integers
from inferlet._rules.definition import Rule, rule
from inferlet._rules.other_row import OtherRow
from inferlet._rules.row import Row
from inferlet._rules.values import (
    Number,
    Value,
    Vector,
    Whole,
    hash_uniform,
    mass_threshold,
    maximum,
    minimum,
    scatter,
    where,
)
from pie_mlx.calls import RuleUse
from pie_mlx.errors import InvalidArgumentError

T = TypeVar("T", bound=Hashable)

__all__ = [
    "Number",
    "OtherRow",
    "Row",
    "Rule",
    "RuleUse",
    "Value",
    "Vector",
    "Whole",
    "contrastive",
    "dry",
    "entropy_gate",
    "entropy_temperature",
    "eta",
    "green_share",
    "guidance",
    "hash_uniform",
    "mass_threshold",
    "maximum",
    "min_p",
    "minimum",
    "mirostat",
    "mixture",
    "product",
    "rule",
    "scatter",
    "top_n_sigma",
    "typical",
    "vote",
    "watermark",
    "watermark_z_score",
    "where",
    "xtc",
]


@rule
def min_p(row: Row, p: Number = 0.05) -> Value:
    """Keeps tokens at least `p` times as likely as the likeliest (Nguyen et al. 2024, arXiv 2407.01082).

    The same as `Sampler.min_p` at temperature 1; here it comes before the sampler's temperature.
    """
    return where(row.logits >= row.logits.max() + row.constant(p).log(), row.logits, -inf)


@rule
def top_n_sigma(row: Row, n: Number = 1.0) -> Value:
    """Keeps logits at most `n` standard deviations below the largest (Tang et al. 2024, arXiv 2411.07641).

    The deviation is that of the tokens that may be drawn.
    """
    count = where(row.allowed, 1.0, 0.0).sum()
    mean = where(row.allowed, row.logits, 0.0).sum() / count
    apart = where(row.allowed, row.logits - mean, 0.0)
    return where(row.logits >= row.logits.max() - n * ((apart * apart).sum() / count).sqrt(), row.logits, -inf)


@rule
def eta(row: Row, epsilon: Number = 3e-4) -> Value:
    """Cuts tokens less likely than `epsilon` and than sqrt(epsilon)·exp(-entropy) (Hewitt et al. 2022, arXiv
    2210.15191). The likeliest token always stays."""
    logs, cut = row.log_probabilities, row.constant(epsilon).log()
    return where(logs >= minimum(minimum(cut, 0.5 * cut - row.entropy), logs.max()), row.logits, -inf)


@rule(candidates=256)
def typical(row: Row, mass: Number = 0.9) -> Value:
    """Keeps the tokens whose surprise is closest to the entropy, up to a share `mass` of the probability (Meister et
    al. 2022, arXiv 2202.00666), among the 256 likeliest."""
    p, surprise = row.probabilities, -row.log_probabilities
    share = p / p.sum()
    unusual = abs(surprise - (share * surprise).sum())
    return where(unusual <= mass_threshold(unusual, share, mass), row.logits, -inf)


@rule(candidates=256)
def xtc(row: Row, threshold: Number = 0.1, probability: Number = 0.5) -> Value:
    """Excludes the top choices: with this `probability` all tokens likelier than `threshold` except the least likely of
    them (p-e-w 2024, text-generation-webui 6335)."""
    p = row.probabilities
    over = p >= threshold
    least, several = where(over, p, inf).min(), where(over, 1.0, 0.0).sum() >= 2.0
    return where(over & (p > least) & several & (row.random < probability), -inf, row.logits)


@rule
def entropy_temperature(row: Row, nats: Number = 2.0, unsure: Number = 1.2, sure: Number = 0.3) -> Value:
    """One temperature where the entropy exceeds `nats`, another elsewhere (after Zhang et al. 2024, arXiv
    2403.14541). Give the sampler temperature 1."""
    return row.logits / where(row.entropy > nats, unsure, sure)


@rule
def _dry(row: Row, multiplier: Number, base: Number, allowed: Number) -> Value:
    penalty = multiplier * ((row.repeated - allowed) * row.constant(base).log()).exp()
    return where(row.repeated >= allowed, row.logits - penalty, row.logits)


def dry(multiplier: float = 0.8, base: float = 1.75, allowed: float = 2.0, breakers: Iterable[int] = ()) -> RuleUse:
    """Lowers tokens that would make a repetition of n tokens longer by multiplier·base^(n - allowed), from n = allowed
    on (p-e-w 2024, text-generation-webui 5677). It looks at `row.repeated`, which ends at the sequence `breakers`, at
    most 256 tokens: those of a line break, a colon, a quotation mark or an asterisk there."""
    return _dry(multiplier=multiplier, base=base, allowed=allowed).broken_at(integers(breakers, "dry: breakers"))


@rule
def _entropy_gate(
    row: Row, wait: Number, token: Whole, nats: Number, bonus: Number, pause: Number
) -> tuple[Value, dict[str, Number]]:
    opened = (row.tokens == token) & row.allowed & (row.entropy > nats) & (row.constant(0.0) >= wait)
    return where(opened, row.logits.max() + bonus, row.logits), {"wait": where(row.drawn == token, pause, wait - 1)}


def entropy_gate(token: int, nats: float = 2.0, bonus: float = 3.0, pause: float = 32.0) -> RuleUse:
    """Think more here: where the entropy exceeds `nats`, the logit of `token` is `bonus` above the largest; once drawn,
    not again for `pause` tokens. With the token of "Wait" this is the budget forcing of Muennighoff et al. 2025
    (arXiv 2501.19393), where the model is unsure."""
    return _entropy_gate(wait=0.0, token=token, nats=nats, bonus=bonus, pause=pause)


@rule
def _mirostat(row: Row, mu: Number, tau: Number, rate: Number) -> tuple[Value, dict[str, Number]]:
    logs = row.log_probabilities
    kept = where(logs >= minimum(mu * -log(2), logs.max()), logs, -inf)
    observed = (kept.log_sum_exp() - kept.at(row.drawn)) / log(2)
    return kept, {"mu": mu - rate * (observed - tau)}


def mirostat(tau: float = 3.0, rate: float = 0.1, mu: float | None = None) -> RuleUse:
    """Cuts tokens that surprise by more than `mu` bits, and moves `mu` at the given `rate` so that the text surprises
    by `tau` bits a token (Basu et al. 2021, arXiv 2007.14966, version 2). `mu` begins at 2·tau. Give the sampler
    temperature 1."""
    return _mirostat(mu=2 * tau if mu is None else mu, tau=tau, rate=rate)


@rule
def watermark(row: Row, key: Whole, gamma: Number = 0.25, delta: Number = 2.0) -> Value:
    """Raises by `delta` the logits of a share `gamma` of the vocabulary, which the previous token and the `key` choose
    (Kirchenbauer et al. 2023, arXiv 2301.10226). `watermark_z_score` finds it again. Keys have 24 bits."""
    return row.logits + where(hash_uniform(row.tokens, row.previous, key) < gamma, delta, 0.0)


@rule
def guidance(row: Row, unguided: OtherRow, scale: Number = 1.5) -> Value:
    """Classifier-free guidance (Sanchez et al. 2023, arXiv 2306.17806): moves the logits away from those of a context
    without the instruction, or with the opposite one. `scale` 1 changes nothing, 0 is the other context's text."""
    return unguided.logits + scale * (row.logits - unguided.logits)


@rule
def contrastive(row: Row, amateur: OtherRow, plausible: Number = 0.1, strength: Number = 0.5) -> Value:
    """Contrastive decoding: of the tokens at least `plausible` times as likely as the likeliest (Li et al. 2022, arXiv
    2210.15097), those that an amateur finds less likely gain: (1 + strength)·expert - strength·amateur (O'Brien and
    Lewis 2023, arXiv 2309.09117). The amateur is a context with less to go on, or without the expert's adapter."""
    kept = row.logits >= row.logits.max() + row.constant(plausible).log()
    return where(kept, row.logits + strength * (row.logits - amateur.logits), -inf)


@rule
def mixture(row: Row, other: OtherRow, weight: Number = 0.5) -> Value:
    """The mean of the probabilities of two contexts, the first with this `weight`: what either finds likely."""
    return (weight * row.probabilities + (1.0 - weight) * other.probabilities).log()


@rule
def product(row: Row, other: OtherRow, weight: Number = 0.5) -> Value:
    """The geometric mean of the probabilities of two contexts, a product of experts (Hinton 2002): what both find
    likely."""
    return weight * row.logits + (1.0 - weight) * other.logits


def vote(answers: Iterable[T | None]) -> tuple[T, float]:
    """The answer that most texts of one prompt agree on, and its share (self-consistency, Wang et al. 2022, arXiv
    2203.11171). The first of equally many wins; None abstains. Raises InvalidArgumentError where all do."""
    counted = Counter(answer for answer in answers if answer is not None)
    if not counted:
        raise InvalidArgumentError("vote: no answer", hint="give at least one that is not None")
    ((answer, count),) = counted.most_common(1)
    return answer, count / counted.total()


def green_share(tokens: Sequence[int], key: int, gamma: float = 0.25) -> float:
    """The share of green tokens in a text of at least two tokens, each after the one before it: about `gamma` without
    a watermark of this key. `watermark_z_score` says whether that is chance."""
    return _green(list(pairwise(tokens)), key, gamma)


def watermark_z_score(tokens: Sequence[int], key: int, gamma: float = 0.25) -> float:
    """By how many standard deviations a text has more green tokens than one without a watermark of this `key`
    (Kirchenbauer et al. 2023, arXiv 2301.10226, equation 3). Above 4, chance is ruled out: 3 texts of 100,000 are.

    A token counts once after each other one: a text that repeats itself has no more evidence (Fernandez et al. 2023,
    arXiv 2308.00113). Raises InvalidArgumentError for fewer than two tokens.
    """
    pairs = set(pairwise(tokens))
    if not pairs:
        raise InvalidArgumentError(
            f"watermark_z_score: {len(tokens)} tokens have no pair", hint="give a text of at least two tokens"
        )
    return (_green(pairs, key, gamma) - gamma) * sqrt(len(pairs) / (gamma * (1 - gamma)))


def _green(pairs: Collection[tuple[int, int]], key: int, gamma: float) -> float:
    return sum(_uniform(token, previous, key) < gamma for previous, token in pairs) / len(pairs)


def _uniform(first: int, second: int, third: int) -> float:
    """`hash_uniform` in plain Python."""
    mixed = 0x9E3779B9
    for part in (first, second, third):
        mixed ^= part & 0xFFFFFFFF
        for factor, shift in ((0x7FEB352D, 15), (0x846CA68B, 16)):
            mixed = (mixed ^ (mixed >> 16)) * factor & 0xFFFFFFFF
            mixed ^= mixed >> shift
    return (mixed >> 8) / (1 << 24)
