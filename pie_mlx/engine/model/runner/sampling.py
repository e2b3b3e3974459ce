"""Samplers in MLX operations: every row with its own temperature, filters and random number (L1, L2, L6).

A row's result depends on its own logits and parameters only. Rows are grouped by what they need: the largest logit;
one running sum over the vocabulary; or the most likely tokens in order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import mlx.core as mx
import numpy as np

from pie_mlx.backends import current_backend
from pie_mlx.calls import Sampler
from pie_mlx.engine.model.runner.batch import PackedMask
from pie_mlx.metal.arrays import integers

CANDIDATES = 256
"""Most likely tokens that filtered rows look at first; rows that keep more are sorted whole."""


@dataclass(frozen=True, slots=True)
class Draw:
    """One token to draw from row `row` of the logits with the random number `uniform` in [0, 1)."""

    row: int
    sampler: Sampler
    uniform: float
    mask: PackedMask | None = None


def apply_masks(logits: mx.array, masks: Sequence[PackedMask | None]) -> mx.array:
    """`logits` [rows, vocabulary] with forbidden tokens at -inf; rows whose mask is None are not touched."""
    present = [mask for mask in masks if mask is not None]
    if not present:
        return logits
    forbid = current_backend().forbid
    if len(present) == len(masks):
        return forbid(logits, np.array(present))
    rows = mx.array([row for row, mask in enumerate(masks) if mask is not None])
    logits = logits + 0  # the caller's rows stay as they are: probes read them unmasked
    logits[rows] = forbid(logits[rows], np.array(present))
    return logits


def _column(values: Sequence[float]) -> mx.array:
    return mx.array(list(values), dtype=mx.float32)[:, None]


def _rows(logits: mx.array, draws: Sequence[Draw]) -> mx.array:
    """The drawn rows [draws, vocabulary], masked."""
    wanted = [draw.row for draw in draws]
    chosen = logits if wanted == list(range(logits.shape[0])) else logits[mx.array(wanted)]
    return apply_masks(chosen, [draw.mask for draw in draws])


def _mass(logits: mx.array, draws: Sequence[Draw]) -> mx.array:
    """In proportion to the probabilities of each row, [draws, vocabulary]."""
    temperature = _column([draw.sampler.temperature for draw in draws])
    return current_backend().likelihoods(_rows(logits, draws), temperature)


def _first_above(mass: mx.array, draws: Sequence[Draw]) -> mx.array:
    """Index of the first entry whose running sum exceeds uniform × total, [draws, 1].

    A GPU sums in parallel: where the mass is zero its running sum may still rise by a rounding error. A draw that ends
    there, on a forbidden token, takes the largest entry instead.
    """
    running = mx.cumsum(mass, axis=-1)
    target = _column([draw.uniform for draw in draws]) * running[:, -1:]
    # A sum that falls at its end can pass the target nowhere.
    first = mx.minimum(mx.sum(running <= target, axis=-1, keepdims=True), mass.shape[-1] - 1)
    return mx.where(mx.take_along_axis(mass, first, axis=-1) > 0, first, mx.argmax(mass, axis=-1, keepdims=True))


def argmax(logits: mx.array, draws: Sequence[Draw]) -> mx.array:
    """The largest logit of each drawn row, ties to the lowest id; [draws] uint32."""
    return mx.argmax(_rows(logits, draws), axis=-1)


def from_whole_row(logits: mx.array, draws: Sequence[Draw]) -> mx.array:
    """Draws that need no order: the whole row, or what is likely enough against its maximum; [draws] uint32."""
    mass = _mass(logits, draws)
    if any(draw.sampler.floor for draw in draws):
        floor = _column([draw.sampler.floor for draw in draws])
        mass = mx.where(mass >= floor * mx.max(mass, axis=-1, keepdims=True), mass, 0)
    return _first_above(mass, draws)[:, 0].astype(mx.uint32)


def from_most_likely(logits: mx.array, draws: Sequence[Draw], candidates: int) -> tuple[mx.array, mx.array]:
    """Draws filtered by rank or mass, seen among the `candidates` most likely tokens.

    Answers tokens [draws] uint32 and whether each is certain [draws] bool: false where the kept tokens may reach
    beyond the candidates, so that the row must be drawn again among more of them.
    """
    mass = _mass(logits, draws)
    probabilities = mass / mx.sum(mass, axis=-1, keepdims=True)
    vocabulary = probabilities.shape[-1]
    count = min(candidates, vocabulary)
    if count < vocabulary:
        # Ascending ids before a stable sort: equal probabilities rank by id.
        ids = mx.sort(mx.argpartition(-probabilities, count - 1, axis=-1)[:, :count], axis=-1)
        found = mx.take_along_axis(probabilities, ids, axis=-1)
    else:
        ids, found = mx.broadcast_to(mx.arange(vocabulary), probabilities.shape), probabilities
    order = mx.argsort(-found, axis=-1)
    falling = mx.take_along_axis(found, order, axis=-1)
    keep = _kept(falling, draws)
    chosen = _first_above(mx.where(keep, falling, 0), draws)
    tokens = mx.take_along_axis(ids, mx.take_along_axis(order, chosen, axis=-1), axis=-1)[:, 0]
    last = mx.take_along_axis(falling, mx.sum(keep, axis=-1, keepdims=True) - 1, axis=-1)
    certain = last[:, 0] > falling[:, -1] if count < vocabulary else mx.ones(len(draws), dtype=mx.bool_)
    return tokens.astype(mx.uint32), certain


def _kept(falling: mx.array, draws: Sequence[Draw]) -> mx.array:
    """Which of the sorted probabilities every filter of the row keeps (L1), [draws, candidates] bool."""
    rank = mx.arange(falling.shape[-1])[None]
    most = np.iinfo(np.int32).max
    k = integers([min(draw.sampler.k or most, most) for draw in draws])[:, None]
    before = mx.cumsum(falling, axis=-1) - falling
    enough = before < _column([draw.sampler.p for draw in draws])
    # p = 1 keeps everything: rounding must not let the running sum reach 1 early.
    whole = mx.array([draw.sampler.p >= 1.0 for draw in draws])[:, None]
    likely = falling >= _column([draw.sampler.floor for draw in draws]) * falling[:, :1]
    return ((rank < k) & (enough | whole) & likely & (falling > 0)) | (rank == 0)


def needs_order(sampler: Sampler) -> bool:
    """Whether the sampler filters by rank or mass."""
    return sampler.k > 0 or sampler.p < 1.0
