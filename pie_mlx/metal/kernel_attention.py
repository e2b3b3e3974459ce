"""Attention of a step by kernels: decode rows, verification windows and long chunks, each in one launch per layer."""

from collections.abc import Sequence
from dataclasses import dataclass

import mlx.core as mx
import numpy as np

from pie_mlx.metal.arrays import integers
from pie_mlx.metal.kernel_pool import KernelPool
from pie_mlx.metal.kernels.attention_rows import AttentionRows, attention_rows
from pie_mlx.metal.kernels.paged_attention import AttentionOptions, PoolShape, paged_attention, pool_shape
from pie_mlx.metal.kernels.paged_prefill import paged_prefill, tile_size
from pie_mlx.metal.visibility import BoolArray, Run, expanded

WINDOW_ROWS = 4
"""Rows of one context that share a reading of its pages in the decode kernel."""
PREFILL_ROWS = 9
"""Runs of at least so many rows are attended in tiles."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Runs of one class, and which rows of the step they are. Compared by identity: runs need not be hashable."""

    runs: tuple[Run, ...]
    order: tuple[int, ...]


def _rows(runs: Sequence[Run]) -> Rows:
    return Rows(tuple(runs), tuple(run.start + index for run in runs for index in range(run.count)))


class KernelPlan:
    """How the rows of one step are divided among kernels. Built once per step, shared by all layers.

    A row's class depends on its own run only, so that what else is in the batch cannot change its result.
    """

    def __init__(self, runs: Sequence[Run], pool: KernelPool) -> None:
        self._pool = pool
        tiled = pool.backend.runs("paged_prefill") and all(_tiles(layer.keys, layer.values) for layer in pool.layers)
        longest = PREFILL_ROWS if tiled else max(run.count for run in runs) + 1
        self._singles = _rows([run for run in runs if run.count == 1])
        self._windows = _rows([run for run in runs if 1 < run.count < longest])
        self._chunks = _rows([run for run in runs if run.count >= longest])
        self._built: dict[tuple[Rows, int], AttentionRows] = {}
        order = self._singles.order + self._windows.order + self._chunks.order
        self._in_order = order == tuple(range(len(order)))
        self._back = integers(np.argsort(order))

    def attend(
        self, queries: mx.array, layer: int, *, scale: float, window: int | None, sinks: mx.array | None
    ) -> mx.array:
        """Attention of `queries` [rows, query heads, key_dim] over the pages of `layer`; [rows, heads, value_dim]."""
        options = AttentionOptions(scale, window or 0, sinks=sinks)
        typed = queries.astype(self._pool.dtype)
        shape = pool_shape(self._pool.layers[layer].keys, self._pool.layers[layer].values)
        outputs = [
            self._launch(typed, layer, rows, self._per_window(rows, typed, shape), options)
            for rows in (self._singles, self._windows, self._chunks)
            if rows.runs
        ]
        joined = outputs[0] if len(outputs) == 1 else mx.concatenate(outputs)
        return (joined if self._in_order else joined[self._back]).astype(queries.dtype)

    def _per_window(self, rows: Rows, queries: mx.array, shape: PoolShape) -> int:
        if rows is self._singles:
            return 1
        if rows is self._chunks:
            return tile_size(shape, queries.dtype.size)[0]
        return WINDOW_ROWS if queries.shape[1] // shape.heads * WINDOW_ROWS * shape.key_size <= 4096 else 1

    def _launch(
        self, queries: mx.array, layer: int, rows: Rows, per_window: int, options: AttentionOptions
    ) -> mx.array:
        pages = self._pool.layers[layer]
        kernel = paged_prefill if rows is self._chunks else paged_attention
        own = queries if len(rows.order) == queries.shape[0] and self._in_order else queries[integers(rows.order)]
        arrays = (own, pages.keys, pages.values, self._device_rows(rows, per_window))
        output, pages.fence = kernel(self._pool.backend, *arrays, options, pages.fence)
        return output

    def _device_rows(self, rows: Rows, per_window: int) -> AttentionRows:
        key = (rows, per_window)
        if key not in self._built:
            self._built[key] = _attention_rows(rows.runs, per_window, self._pool.page_size)
        return self._built[key]


def _tiles(keys: mx.array, values: mx.array) -> bool:
    return keys.shape[3] % 8 == 0 and values.shape[3] % 8 == 0


def _attention_rows(runs: Sequence[Run], per_window: int, page_size: int) -> AttentionRows:
    tables = [run.block_table[: -(-run.kv_length // page_size)] for run in runs]
    row_seq = [line for line, run in enumerate(runs) for _ in range(run.count)]
    row_len = [run.kv_length - run.count + 1 + index for run in runs for index in range(run.count)]
    masks = [mask for run in runs for mask in _masks(run)]
    return attention_rows(tables, row_seq, row_len, masks=masks, rows_per_window=per_window)


def _masks(run: Run) -> list[BoolArray | None]:
    if run.masks is None:
        return [None] * run.count
    return [expanded(mask, 0, run.kv_length) for mask in run.masks]
