"""Tokens drawn at random from prepared rows of logits [draws, vocabulary], as MLX operations in which every row has its
own temperature, filters and random number (L1, L2, L6). A row's result depends on its own logits and parameters only.
"""

from collections.abc import Sequence

import mlx.core as mx
import numpy as np

from pie_mlx.backends import current_backend
from pie_mlx.calls import Sampler
from pie_mlx.engine.model.likeliest import likeliest
from pie_mlx.engine.model.runner.batch import Draws
from pie_mlx.metal.arrays import integers


def from_whole_row(rows: mx.array, draws: Draws) -> mx.array:
    """Draws that need no order: the whole row, or what is likely enough against its maximum; [draws] uint32."""
    mass = _mass(rows, draws)
    if any(sampler.min_probability for sampler in draws.samplers):
        min_p = _column([sampler.min_probability for sampler in draws.samplers])
        mass = mx.where(mass >= min_p * current_backend().largest(mass), mass, 0)
    return _first_above(mass, draws)[:, 0].astype(mx.uint32)


def from_most_likely(rows: mx.array, draws: Draws, candidates: int) -> tuple[mx.array, mx.array]:
    """Draws filtered by rank or mass, seen among the `candidates` most likely tokens.

    Answers tokens [draws] uint32 and whether each is certain [draws] bool: false where the kept tokens may reach
    beyond the candidates, so that the row must be drawn again among more of them.
    """
    mass = _mass(rows, draws)
    probabilities = mass / mx.sum(mass, axis=-1, keepdims=True)
    vocabulary = probabilities.shape[-1]
    count = min(candidates, vocabulary)
    if count < vocabulary:
        # Ascending ids before a stable sort: equal probabilities rank by id.
        ids = likeliest(probabilities, count)
        found = mx.take_along_axis(probabilities, ids, axis=-1)
    else:
        ids, found = mx.broadcast_to(mx.arange(vocabulary), probabilities.shape), probabilities
    order = mx.argsort(-found, axis=-1)
    falling = mx.take_along_axis(found, order, axis=-1)
    keep = _kept(falling, draws)
    chosen = _first_above(mx.where(keep, falling, 0), draws)
    tokens = mx.take_along_axis(ids, mx.take_along_axis(order, chosen, axis=-1), axis=-1)[:, 0]
    least = mx.take_along_axis(falling, mx.sum(keep, axis=-1, keepdims=True) - 1, axis=-1)
    certain = least[:, 0] > falling[:, -1] if count < vocabulary else mx.ones(len(draws.rows), dtype=mx.bool_)
    return tokens.astype(mx.uint32), certain


def _kept(falling: mx.array, draws: Draws) -> mx.array:
    """Which of the sorted probabilities every filter of the row keeps (L1), [draws, candidates] bool."""
    rank = mx.arange(falling.shape[-1])[None]
    most = np.iinfo(np.int32).max
    k = integers([min(sampler.k or most, most) for sampler in draws.samplers])[:, None]
    before = mx.cumsum(falling, axis=-1) - falling
    enough = before < _column([sampler.p for sampler in draws.samplers])
    # p = 1 keeps everything: rounding must not let the running sum reach 1 early.
    whole = mx.array([sampler.p >= 1.0 for sampler in draws.samplers])[:, None]
    likely = falling >= _column([sampler.min_probability for sampler in draws.samplers]) * falling[:, :1]
    return ((rank < k) & (enough | whole) & likely & (falling > 0)) | (rank == 0)


def needs_order(sampler: Sampler) -> bool:
    """Whether the sampler filters by rank or mass."""
    return sampler.k > 0 or sampler.p < 1.0


def _mass(rows: mx.array, draws: Draws) -> mx.array:
    """In proportion to the probabilities of each row, [draws, vocabulary]."""
    temperature = _column([sampler.temperature for sampler in draws.samplers])
    return current_backend().likelihoods(rows, temperature)


def _first_above(mass: mx.array, draws: Draws) -> mx.array:
    """Index of the first entry whose running sum exceeds uniform × total, [draws, 1].

    A GPU sums in parallel: where the mass is zero its running sum may still rise by a rounding error. A draw that ends
    there, on a forbidden token, takes the largest entry instead.
    """
    running = mx.cumsum(mass, axis=-1)
    target = _column(draws.uniforms) * running[:, -1:]
    # A sum that falls at its end can pass the target nowhere.
    first = mx.minimum(mx.sum(running <= target, axis=-1, keepdims=True), mass.shape[-1] - 1)
    return mx.where(mx.take_along_axis(mass, first, axis=-1) > 0, first, mx.argmax(mass, axis=-1, keepdims=True))


def _column(values: Sequence[float]) -> mx.array:
    return mx.array(list(values), dtype=mx.float32)[:, None]
