"""Penalties and biases in MLX operations: every row with its own (L7).

Only the tokens that occur in a row's text are touched, so that a step reads and writes the logits once, however many
rows are penalised. A step after one that is still being drawn counts that token on the device.
"""

from collections.abc import Sequence
from typing import NamedTuple

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.calls import Sampler
from pie_mlx.engine.model.token_counts import NOTHING, TokenCounts
from pie_mlx.metal.arrays import from_host, integers

_ABSENT = -1


def penalized(
    logits: mx.array,
    samplers: Sequence[Sampler],
    counts: Sequence[TokenCounts | None],
    last: mx.array | None = None,
) -> mx.array:
    """`logits` [rows, vocabulary] float32 as each row's sampler changes them: bias, repetition, frequency, presence.

    `counts` has the tokens of each row's text, None where nothing is counted; `last` [rows] int32 is one more generated
    token of each text. Rows that change nothing are not touched; without any other the answer is `logits` itself.
    """
    columns = [_Columns.of(sampler, found) for sampler, found in zip(samplers, counts, strict=True)]
    places = [row for row, found in enumerate(columns) if found is not None]
    changing = [found for found in columns if found is not None]
    if not changing:
        return logits
    chosen = [samplers[row] for row in places]
    if not any(sampler.penalizes for sampler in chosen):
        last = None
    if len(changing) == len(samplers):
        return _changed(logits, chosen, changing, last)
    rows = integers(places)
    changed = _changed(logits[rows], chosen, changing, None if last is None else last[rows])
    logits = logits + 0  # the caller's rows stay as they are: probes read them
    logits[rows] = changed
    return logits


class _Columns(NamedTuple):
    """Tokens whose logits change, how often each was generated, _ABSENT for none of the text, and their biases."""

    tokens: npt.NDArray[np.int32]
    generated: npt.NDArray[np.float32]
    biases: npt.NDArray[np.float32]

    @staticmethod
    def of(sampler: Sampler, counts: TokenCounts | None) -> "_Columns | None":
        counts = counts if sampler.penalizes else None
        if counts is None and not sampler.logit_bias:
            return None
        found = NOTHING if counts is None else counts if sampler.repetition_penalty != 1 else counts.generated_only()
        if not sampler.logit_bias:
            return _Columns(found.ids, found.generated.astype(np.float32), np.zeros(len(found.ids), np.float32))
        biased, values = np.array(list(sampler.logit_bias)), np.array(list(sampler.logit_bias.values()))
        tokens = np.union1d(found.ids, biased)
        generated, biases = np.full(len(tokens), _ABSENT, np.float32), np.zeros(len(tokens), np.float32)
        generated[np.searchsorted(tokens, found.ids)] = found.generated
        biases[np.searchsorted(tokens, biased)] = values
        return _Columns(tokens.astype(np.int32), generated, biases)


def _changed(
    logits: mx.array, samplers: Sequence[Sampler], columns: Sequence[_Columns], last: mx.array | None
) -> mx.array:
    """Every row changes. A token may have two columns, which then write the same value."""
    tokens, generated, biases = _together(columns)
    if last is not None:
        tokens, generated, biases = _with_last(tokens, generated, biases, last[:, None])
    if not tokens.shape[-1]:
        return logits
    found = mx.take_along_axis(logits, tokens, axis=-1) + biases
    repetition = _column([sampler.repetition_penalty for sampler in samplers])
    repeated = mx.where(found > 0, found / repetition, found * repetition)
    frequency = _column([sampler.frequency_penalty for sampler in samplers])
    presence = _column([sampler.presence_penalty for sampler in samplers])
    taken = frequency * mx.maximum(generated, 0) + mx.where(generated > 0, presence, 0)
    return mx.put_along_axis(logits, tokens, mx.where(generated == _ABSENT, found, repeated) - taken, axis=-1)


def _together(columns: Sequence[_Columns]) -> tuple[mx.array, mx.array, mx.array]:
    """[rows, most] each; shorter rows repeat their first column, empty ones name a token that does not change."""
    shape = len(columns), max(len(row.tokens) for row in columns)
    tokens, biases = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
    generated = np.full(shape, _ABSENT, np.float32)
    for row, found in enumerate(columns):
        for all_of_it, own in zip((tokens, generated, biases), found, strict=True):
            all_of_it[row, : len(own)] = own
            if len(own):
                all_of_it[row, len(own) :] = own[0]
    return from_host(tokens), from_host(generated), from_host(biases)


def _with_last(
    tokens: mx.array, generated: mx.array, biases: mx.array, last: mx.array
) -> tuple[mx.array, mx.array, mx.array]:
    """The counts after one more generated token [rows, 1] of each text."""
    again, first = tokens == last, mx.ones(last.shape)
    generated = mx.where(again, mx.maximum(generated, 0) + 1, generated)
    counted = mx.concatenate([mx.where(again, generated, 1), first], axis=-1)
    # Of several columns of a token, which repeat one another, one bias is meant.
    highest = mx.max(
        mx.concatenate([mx.where(again, biases, -mx.inf), -mx.inf * first], axis=-1), axis=-1, keepdims=True
    )
    own_bias = mx.where(highest > -mx.inf, highest, 0)
    return (
        mx.concatenate([tokens, last], axis=-1),
        mx.concatenate([generated, mx.max(counted, axis=-1, keepdims=True)], axis=-1),
        mx.concatenate([biases, own_bias], axis=-1),
    )


def _column(values: Sequence[float]) -> mx.array:
    return from_host(np.array(values, np.float32)[:, None])
