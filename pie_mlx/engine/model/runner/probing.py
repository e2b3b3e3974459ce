"""What rows of logits are asked besides tokens: one graph for all questions of a kind, values after one evaluation."""

from collections.abc import Sequence

import mlx.core as mx
import numpy as np

from pie_mlx.calls import (
    AnyResult,
    AttentionScores,
    AttentionScoreValues,
    Distribution,
    Entropy,
    EntropyValue,
    HiddenMean,
    HiddenState,
    HiddenStateValues,
    Logits,
    Logprob,
    Logprobs,
    LogprobValues,
    Probabilities,
    Probe,
    RawLogits,
)
from pie_mlx.engine.model.likeliest import likeliest
from pie_mlx.metal.arrays import host_view, integers

LOWEST_TEMPERATURE = 1e-30
"""Logits divided by less overflow float32; the most likely tokens have all of the mass long before."""


class Probing:
    """Probes of rows of unmasked `logits` [rows, vocabulary] float32, each a pair of row and question; `hidden` [rows,
    width] has their hidden states. Rows with the same `HiddenMean`, one after the other, are summed: the answer of the
    first is their sum, those of the others are empty. So it is with rows of one and the same `AttentionScores`; their
    sums are `scores` [groups, pages], in order.

    Evaluate `outputs`, then `collect`.
    """

    def __init__(
        self,
        logits: mx.array,
        asked: Sequence[tuple[int, Probe]],
        hidden: mx.array | None = None,
        scores: Sequence[mx.array] = (),
    ) -> None:
        self._asked = asked
        self._scored = [(row, _ids(probe)) for row, probe in asked if isinstance(probe, Logprob | Logprobs)]
        spread = [row for row, probe in asked if isinstance(probe, Entropy)]
        self._scores = [_logprobs(logits, self._scored)] if self._scored else []
        self._entropies = [_entropies(logits, spread)] if spread else []
        self._likely = [_likely(logits[row], probe) for row, probe in asked if isinstance(probe, Distribution)]
        self._raw = [logits[row] for row, probe in asked if isinstance(probe, Logits)]
        shown = [row for row, probe in asked if isinstance(probe, HiddenState)]
        self._states = [hidden[row].astype(mx.float32) for row in shown] if hidden is not None else []
        self._runs, self._attention = _runs(asked), _attention(asked, scores)
        self._totals = [] if hidden is None else [_total(hidden, rows) for rows in self._runs.values()]

    @property
    def outputs(self) -> list[mx.array]:
        """Everything that must be evaluated before `collect`."""
        likely = (array for pair in self._likely for array in pair)
        return [
            *self._scores,
            *self._entropies,
            *self._raw,
            *self._states,
            *self._totals,
            *self._attention.values(),
            *likely,
        ]

    def collect(self) -> list[AnyResult]:
        """The answers in the order of the questions."""
        ends = np.cumsum([len(ids) for _, ids in self._scored])
        scores = iter([part for array in self._scores for part in np.split(host_view(array), ends[:-1])])
        entropies = iter([value for array in self._entropies for value in host_view(array).tolist()])
        raw, likely, states, totals = iter(self._raw), iter(self._likely), iter(self._states), iter(self._totals)
        answers: list[AnyResult] = []
        for place, (_, probe) in enumerate(self._asked):
            if isinstance(probe, Logits):
                answers.append(RawLogits(host_view(next(raw)).tobytes()))
            elif isinstance(probe, Distribution):
                ids, probabilities = map(host_view, next(likely))
                answers.append(Probabilities(ids.tolist(), probabilities.tolist()))
            elif isinstance(probe, Entropy):
                answers.append(EntropyValue(next(entropies)))
            elif isinstance(probe, HiddenState):
                answers.append(HiddenStateValues(host_view(next(states)).tolist()))
            elif isinstance(probe, HiddenMean):
                answers.append(HiddenStateValues(host_view(next(totals)).tolist() if place in self._runs else []))
            elif isinstance(probe, AttentionScores):
                answers.append(_score_values(self._attention.get(place)))
            else:
                answers.append(LogprobValues(next(scores).tolist()))
        return answers


def _score_values(scores: mx.array | None) -> AttentionScoreValues:
    if scores is None:
        return AttentionScoreValues(0, b"")
    return AttentionScoreValues(scores.shape[0], host_view(scores).tobytes())


def _attention(asked: Sequence[tuple[int, Probe]], scores: Sequence[mx.array]) -> dict[int, mx.array]:
    """By the place of its first question, what a probe of attention is answered [groups, pages]."""
    firsts: dict[int, tuple[int, bool]] = {}
    for place, (_, probe) in enumerate(asked):
        if isinstance(probe, AttentionScores):
            firsts.setdefault(id(probe), (place, probe.by_group))
    return {
        place: array if by_group else mx.mean(array, axis=0, keepdims=True)
        for (place, by_group), array in zip(firsts.values(), scores, strict=True)
    }


def _runs(asked: Sequence[tuple[int, Probe]]) -> dict[int, list[int]]:
    """By the place of its first question, the rows of each mean."""
    runs: dict[int, list[int]] = {}
    last, rows = None, list[int]()
    for place, (row, probe) in enumerate(asked):
        if isinstance(probe, HiddenMean):
            if probe is not last:
                rows = runs[place] = []
            rows.append(row)
        last = probe
    return runs


def _total(hidden: mx.array, rows: Sequence[int]) -> mx.array:
    return mx.sum(_chosen(hidden, rows).astype(mx.float32), axis=0)


def _ids(probe: Logprob | Logprobs) -> Sequence[int]:
    return [probe.token_id] if isinstance(probe, Logprob) else probe.token_ids


def _chosen(logits: mx.array, rows: Sequence[int]) -> mx.array:
    return logits if list(rows) == list(range(logits.shape[0])) else logits[integers(rows)]


def _logprobs(logits: mx.array, scored: Sequence[tuple[int, Sequence[int]]]) -> mx.array:
    """Log-probabilities of all ids asked for, one after the other; the vocabulary is summed once per row."""
    rows = sorted({row for row, _ in scored})
    place = {row: index for index, row in enumerate(rows)}
    chosen = _chosen(logits, rows)
    index = integers([place[row] for row, ids in scored for _ in ids])
    ids = integers([token for _, ids in scored for token in ids])
    return chosen[index, ids] - mx.logsumexp(chosen, axis=-1)[index]


def drawn_logprobs(logits: mx.array, rows: Sequence[int], tokens: mx.array) -> mx.array:
    """Log-probability at temperature 1 of one token [draws] of each of the rows named, [draws] float32."""
    chosen = _chosen(logits, rows)
    drawn = mx.take_along_axis(chosen, tokens.astype(mx.int32)[:, None], axis=-1)[:, 0]
    return drawn - mx.logsumexp(chosen, axis=-1)


def likely_logprobs(logits: mx.array, rows: Sequence[int], tokens: mx.array, count: int) -> tuple[mx.array, mx.array]:
    """For each of the rows named its token [draws], then its `count` most likely ones in any order, and the
    log-probability at temperature 1 of each: int32 and float32 [draws, 1 + count]."""
    chosen = _chosen(logits, rows)
    count = min(count, chosen.shape[-1])
    likely = likeliest(chosen, count)
    ids = mx.concatenate([tokens.astype(mx.int32)[:, None], likely.astype(mx.int32)], axis=-1)
    return ids, mx.take_along_axis(chosen, ids, axis=-1) - mx.logsumexp(chosen, axis=-1, keepdims=True)


def _entropies(logits: mx.array, rows: Sequence[int]) -> mx.array:
    chosen = _chosen(logits, rows)
    logprobs = chosen - mx.logsumexp(chosen, axis=-1, keepdims=True)
    # p·log p is 0 at p = 0, where the product itself would be NaN.
    return -mx.sum(mx.where(logprobs > -mx.inf, mx.exp(logprobs) * logprobs, 0), axis=-1)


def _likely(row: mx.array, probe: Distribution) -> tuple[mx.array, mx.array]:
    """The most likely tokens in order, and their probabilities."""
    probabilities = mx.softmax(row / max(probe.temperature, LOWEST_TEMPERATURE), precise=True)
    vocabulary = row.shape[-1]
    count = min(probe.k or vocabulary, vocabulary)
    if count == vocabulary:
        order = mx.argsort(-probabilities)
    else:
        likely = likeliest(probabilities[None], count)[0]
        order = likely[mx.argsort(-probabilities[likely])]
    return order, probabilities[order]
