"""Attention of a step by kernels: decode rows, verification windows and chunks, each in one launch per layer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import mlx.core as mx
import numpy as np

from pie_mlx.metal.arrays import integers
from pie_mlx.metal.kernels.attention_rows import AttentionRows, attention_rows
from pie_mlx.metal.kernels.gathered_attention import gathered_attention
from pie_mlx.metal.kernels.latent_attention import latent_attention
from pie_mlx.metal.kernels.paged_attention import (
    PARTITION,
    AttentionOptions,
    PoolShape,
    Strips,
    paged_attention,
    pool_shape,
    scored_attention,
)
from pie_mlx.metal.kernels.paged_prefill import paged_prefill, tile_size
from pie_mlx.metal.page_pool.kernel_pool import KernelPool
from pie_mlx.metal.page_scores import PageScores
from pie_mlx.metal.runs import BoolArray, Run, expanded


class Kind(Enum):
    """How a run is attended. The order is the order of the launches."""

    SINGLE = "one row"
    WINDOW = "rows that share a reading"
    TILED = "tiles with matrix products"
    GATHERED = "gathered pages"


WINDOW_ROWS = 4
"""Most rows of one context that share one read of its pages in the decode kernel."""
WINDOW_ELEMENTS = 4096
"""Most query elements of a window: they lie in threadgroup memory."""
PREFILL_ROWS = 9
"""Runs with at least this many rows are attended in tiles."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Runs of one kind, the step's rows that belong to them, and these indices on the device.

    Compared by identity, because runs may not be hashable.
    """

    runs: tuple[Run, ...]
    order: tuple[int, ...]
    index: mx.array


def run_kinds(gather_rows: int, room: int) -> Iterator[tuple[int, int, bool]]:
    """(rows, KV length, masks?) of runs that together need all kernel specialisations. `room` is the longest possible
    length."""
    for rows in (1, WINDOW_ROWS, PREFILL_ROWS):
        for length in (rows + 1, PARTITION + 1):
            if length <= room:
                yield rows, length, False
                yield rows, length, True
    if gather_rows <= min(room, PARTITION):
        yield gather_rows, gather_rows, False


def _kind(run: Run, tiled: bool, gather_rows: int) -> Kind:
    if run.count == 1:
        return Kind.SINGLE
    if run.count >= gather_rows and run.masks is None:
        return Kind.GATHERED
    return Kind.TILED if tiled and run.count >= PREFILL_ROWS else Kind.WINDOW


def _rows_per_window(kind: Kind, queries: mx.array, shape: PoolShape) -> int:
    if kind is Kind.TILED:
        return tile_size(shape, queries.dtype.size)[0]
    fits = queries.shape[1] // shape.heads * WINDOW_ROWS * shape.key_size <= WINDOW_ELEMENTS
    return WINDOW_ROWS if kind is Kind.WINDOW and fits else 1


def _rows(runs: Sequence[Run]) -> Rows:
    order = tuple(run.start + index for run in runs for index in range(run.count))
    return Rows(tuple(runs), order, integers(order))


class KernelPlan:
    """How the rows of one step are divided among kernels. Built once per step, shared by all layers.

    A row's kind depends on its own run only, so other rows in the batch cannot change its result. `scores` takes page
    scores: they are by-products of the decode kernel, which rows of the other kinds run through once more.
    """

    def __init__(self, runs: Sequence[Run], pool: KernelPool, scores: PageScores | None = None) -> None:
        self._pool, self._scores = pool, scores
        tiles = not pool.latent and all(shape.key_dim % 8 == shape.value_dim % 8 == 0 for shape in pool.shapes)
        self._tiled = tiles and pool.launcher.runs("paged_prefill")
        kinds = [_kind(run, self._tiled, pool.gather_rows) for run in runs]
        chosen = [[run for run, kind in zip(runs, kinds, strict=True) if kind == wanted] for wanted in Kind]
        self._groups = [(kind, _rows(members)) for kind, members in zip(Kind, chosen, strict=True) if members]
        self._again: Rows | None = None
        self._scored: dict[Rows, list[tuple[int, mx.array]]] = {}
        if scores is not None:
            self._place_scores(scores)
        self._built: dict[tuple[Rows, int], AttentionRows] = {}
        order = tuple(row for _, rows in self._groups for row in rows.order)
        self._in_order = order == tuple(range(len(order)))
        self._back = integers(np.argsort(order))

    def attend(
        self,
        queries: mx.array,
        layer: int,
        *,
        scale: float,
        window: int | None,
        sinks: mx.array | None,
        cap: float = 0.0,
    ) -> mx.array:
        """`attention.attend` of all rows of the step."""
        options = AttentionOptions(scale, window or 0, cap, sinks, self._pool.shapes[layer].latent)
        typed = queries.astype(self._pool.dtype)
        outputs = [output for kind, rows in self._groups for output in self._launch(typed, layer, kind, rows, options)]
        if self._again is not None:
            self._launch(typed, layer, Kind.WINDOW, self._again, options)
        joined = outputs[0] if len(outputs) == 1 else mx.concatenate(outputs)
        return (joined if self._in_order else joined[self._back]).astype(queries.dtype)

    def _launch(
        self, queries: mx.array, layer: int, kind: Kind, rows: Rows, options: AttentionOptions
    ) -> list[mx.array]:
        """Results of the rows of one kind, in order."""
        pages = self._pool.layers[layer]
        if kind is Kind.GATHERED and options.cap:
            kind = Kind.TILED if self._tiled else Kind.WINDOW
        if kind is Kind.GATHERED:
            return [self._gathered(queries, layer, run, options) for run in rows.runs]
        whole = self._in_order and len(self._groups) == 1 and rows is not self._again
        own = queries if whole else queries[rows.index]
        kernel = paged_prefill if kind is Kind.TILED else paged_attention
        shape = pool_shape(pages.k_pool, pages.v_pool, latent=options.latent)
        per_window = _rows_per_window(kind, queries, shape)
        arrays = (own, pages.k_pool, pages.v_pool, self._device_rows(rows, per_window))
        if rows in self._scored:
            output, strips, pages.fence = scored_attention(self._pool.launcher, *arrays, options, pages.fence)
            self._add_scores(rows, strips, shape.heads, options)
        else:
            output, pages.fence = kernel(self._pool.launcher, *arrays, options, pages.fence)
        return [output]

    def _place_scores(self, scores: PageScores) -> None:
        """Where the rows that are scored are computed by the decode kernel, and the index of each among those."""
        decoded = {row for kind, rows in self._groups if kind in (Kind.SINGLE, Kind.WINDOW) for row in rows.order}
        others = [run for run in scores.runs if run.start not in decoded]
        self._again = _rows(others) if others else None
        groups = [rows for kind, rows in self._groups if kind in (Kind.SINGLE, Kind.WINDOW)]
        for rows in groups if self._again is None else [*groups, self._again]:
            places = {row: place for place, row in enumerate(rows.order)}
            own = [(index, run.start, run.count) for index, run in enumerate(scores.runs) if run.start in places]
            if own:
                self._scored[rows] = [
                    (index, integers([places[row] for row in range(start, start + count)]))
                    for index, start, count in own
                ]

    def _add_scores(self, rows: Rows, strips: Strips, heads: int, options: AttentionOptions) -> None:
        if self._scores is not None:
            for index, places in self._scored[rows]:
                own = Strips(strips.peaks[places], strips.sums[places], strips.size)
                self._scores.add_strips(index, own, heads, options)

    def _gathered(self, queries: mx.array, layer: int, run: Run, options: AttentionOptions) -> mx.array:
        pages = self._pool.layers[layer]
        own = queries[run.start : run.start + run.count]
        size = self._pool.page_size
        # Skip whole pages before the window: the mask depends only on distances.
        unseen = max(0, run.kv_length - run.count + 1 - options.window) // size if options.window else 0
        table = list(run.block_table[unseen : -(-run.kv_length // size)])
        arrays = (own, pages.k_pool, pages.v_pool, table, run.kv_length - unseen * size)
        gathered = latent_attention if options.latent else gathered_attention
        output, pages.fence = gathered(self._pool.launcher, *arrays, options, pages.fence)
        return output

    def _device_rows(self, rows: Rows, per_window: int) -> AttentionRows:
        key = (rows, per_window)
        if key not in self._built:
            self._built[key] = _attention_rows(rows.runs, per_window, self._pool.page_size)
        return self._built[key]


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
