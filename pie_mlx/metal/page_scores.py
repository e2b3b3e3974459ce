"""How much attention rows pay to each page: by-products of the attention kernel, or computed from queries and keys.

A row's scores of all pages sum to 1, less what sinks take. Scores are summed over the rows that are asked for, and are
means over the query heads of each KV head.
"""

from collections.abc import Sequence
from typing import Any

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.metal.arrays import MOST_SCORES, from_host, integers
from pie_mlx.metal.kernels.paged_attention import AttentionOptions, Strips
from pie_mlx.metal.page_pool.pool import KvPool
from pie_mlx.metal.runs import Run, RunSlice, visible


class PageScores:
    """The page scores of some rows of a step, layer after layer: those of `runs`, each the last rows of a context."""

    def __init__(self, runs: Sequence[Run], page_size: int) -> None:
        self.runs, self._page_size = runs, page_size
        self._layers: list[list[mx.array]] = [[] for _ in runs]

    def result(self) -> list[mx.array]:
        """Float32 [KV heads of all layers in their order, pages] for each run, once all layers are built."""
        return [mx.concatenate(layers) for layers in self._layers]

    def add_strips(self, index: int, strips: Strips, heads: int, options: AttentionOptions) -> None:
        """A layer's scores of the run at `index`: `strips` are those of its rows, `heads` the layer's KV heads."""
        run = self.runs[index]
        lengths = np.arange(run.kv_length - run.count + 1, run.kv_length + 1)
        self._add(index, strip_shares(strips, lengths, options), heads, self._page_size // strips.size)

    def add_layer(self, queries: mx.array, layer: int, pool: KvPool, options: AttentionOptions) -> None:
        """A layer's scores of all runs, from the step's `queries` [rows, query heads, key_dim], after its keys are
        stored."""
        for index, run in enumerate(self.runs):
            keys, values = pool.gather(layer, integers([run.block_table[: self._pages(run)]]))
            keys = mx.concatenate([keys, values], axis=-1) if options.latent else keys
            keys = keys[0].astype(mx.float32)
            at_once = max(1, MOST_SCORES // (queries.shape[1] * keys.shape[1]))
            for begin in range(0, run.count, at_once):
                rows = RunSlice(run, begin, min(at_once, run.count - begin))
                scores = _scores(queries[rows.start : rows.start + rows.count], keys, options)
                seen = from_host(visible(rows, options.window or None, 0, keys.shape[1]))[:, None]
                shares = _softmax(mx.where(seen, scores, -mx.inf), seen, options.sinks)
                self._add(index, shares, keys.shape[0], self._page_size, begin > 0)

    def _add(self, index: int, shares: mx.array, heads: int, each: int, more: bool = False) -> None:
        """Add a layer of a run, or `more` rows of the latest one: `shares` [rows, query heads, parts], of which a page
        has `each`."""
        paged = mx.sum(mx.unflatten(shares, -1, (-1, each)), axis=-1)[..., : self._pages(self.runs[index])]
        scores, layers = mx.mean(mx.unflatten(mx.sum(paged, axis=0), 0, (heads, -1)), axis=1), self._layers[index]
        layers.append(layers.pop() + scores if more else scores)

    def _pages(self, run: Run) -> int:
        return -(-run.kv_length // self._page_size)


def strip_shares(strips: Strips, lengths: npt.NDArray[Any], options: AttentionOptions) -> mx.array:
    """The share of each strip of the softmax of rows that see `lengths` [rows] keys, float32 [rows, query heads,
    strips]."""
    length = integers(lengths)[:, None, None]
    begin = mx.arange(strips.peaks.shape[-1], dtype=mx.int32) * strips.size
    first = length - options.window if options.window else 0
    peaks = mx.where((begin < length) & (begin + strips.size > first), strips.peaks, -mx.inf)
    return _softmax(peaks, mx.where(peaks > -mx.inf, strips.sums, 0), options.sinks)


def _scores(queries: mx.array, keys: mx.array, options: AttentionOptions) -> mx.array:
    """[rows, query heads, keys] float32 of `queries` [rows, query heads, key_dim] and `keys` [KV heads, keys,
    key_dim]."""
    grouped = mx.unflatten(queries.astype(mx.float32), 1, (keys.shape[0], -1)) * options.scale
    scores = (grouped @ keys.swapaxes(-1, -2)[None]).flatten(1, 2)
    return options.cap * mx.tanh(scores / options.cap) if options.cap else scores


def _softmax(peaks: mx.array, mass: mx.array, sinks: mx.array | None) -> mx.array:
    """The share of each part of a row: `mass` times e^peak, divided by all of the row and its sink; 0 where the row
    sees nothing. [rows, query heads, parts]."""
    top = mx.max(peaks, axis=-1, keepdims=True)
    sink = None if sinks is None else sinks.astype(mx.float32)[None, :, None]
    top = top if sink is None else mx.maximum(top, sink)
    top = mx.where(top > -mx.inf, top, 0)
    weights = mass * mx.exp(peaks - top)
    total = mx.sum(weights, axis=-1, keepdims=True)
    total = total if sink is None else total + mx.exp(sink - top)
    return weights / mx.where(total > 0, total, 1)
