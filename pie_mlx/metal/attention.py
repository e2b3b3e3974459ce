"""Attention over pages: by kernels if the pool supports them, else in MLX operations, which are also the reference.

The rows of a step are divided into groups: single-token rows together, rows that share leading pages together, and each
longer run alone. A group reads one or two parts: the shared pages once for all its rows, the rest per row.
"""

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import mlx.core as mx
import numpy as np

from pie_mlx.metal.arrays import MOST_SCORES, from_host, integers
from pie_mlx.metal.batches import IDLE, BatchRequest, HostViews
from pie_mlx.metal.kernel_attention import KernelPlan
from pie_mlx.metal.kernels.paged_attention import AttentionOptions
from pie_mlx.metal.numerics import Numerics
from pie_mlx.metal.page_pool.kernel_pool import KernelPool
from pie_mlx.metal.page_pool.pool import KvPool, PageMemory, SlotWrite
from pie_mlx.metal.page_scores import PageScores
from pie_mlx.metal.runs import (
    LEAST_PAGES,
    BoolArray,
    Run,
    RunSlice,
    Shared,
    blank_rows,
    first_visible,
    shared_groups,
    visible,
)

LOG2_E = math.log2(math.e)


RowSource = Callable[[int], tuple[mx.array, mx.array]]
"""Reads K and V of a group for a layer, each [rows, kv_heads, keys, head_dim]."""


@dataclass(frozen=True, slots=True)
class Part:
    """Keys of a group. `bias` float32 [rows, 1, tokens, keys] is 0 or -inf; None hides nothing.

    A `common` part has one row of keys, which all rows of the group read.
    """

    read: RowSource
    bias: mx.array | None = None
    common: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of the step that are computed together: `rows` of `tokens` each. `order` gives their indices in the step.

    Where `order` is IDLE, some row is computed and discarded.

    `blank` bool [rows * tokens, 1, 1] marks tokens that see nothing and contribute zeros.
    """

    rows: int
    tokens: int
    order: Sequence[int]
    parts: tuple[Part, ...]
    blank: mx.array | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """The groups of a step, and the indices that reorder rows into them and back (None if already in order)."""

    groups: list[Group]
    take: mx.array | None
    back: mx.array | None


@dataclass(frozen=True, slots=True)
class Step:
    """What the groups of a step read: the memory, the `rows` rows that the step stores by layer, and the pool before
    it."""

    memory: PageMemory
    rows: int
    before: HostViews
    stored: dict[int, tuple[mx.array, mx.array]] = field(default_factory=dict[int, tuple[mx.array, mx.array]])


class AttentionPlan:
    """How the token rows of one step see the pages. Built once per step and shared by all layers.

    Creating a plan announces the step's writes to the pool. Store a layer's K and V before attending to it. `scores`
    takes the page scores of some of the rows.
    """

    def __init__(
        self, runs: Sequence[Run], slots: Sequence[int], memory: PageMemory, scores: PageScores | None = None
    ) -> None:
        self._write, self._runs = SlotWrite(slots), runs
        self.numerics: Numerics = memory.pool.numerics
        """How the pool's device computes."""
        self.shapes = memory.pool.shapes
        """What the layers store."""
        self.scores = scores
        memory.pool.begin_write(self._write)
        self.kernels = KernelPlan(runs, memory.pool, scores) if isinstance(memory.pool, KernelPool) else None
        decodes = self.kernels is None and any(run.count == 1 for run in runs)
        self._step = Step(memory, len(slots), memory.batches.before_step() if decodes and memory.pool.evaluated else [])
        self._layouts: dict[int | None, Layout] = {}

    def store(self, layer: int, keys: mx.array, values: mx.array) -> None:
        """Writes the step's K and V of a layer, [rows, kv_heads, head_dim], to the pool."""
        self._step.stored[layer] = self._step.memory.pool.write(layer, keys, values, self._write)

    def add_scores(self, queries: mx.array, layer: int, options: AttentionOptions) -> None:
        """Take the page scores of a layer."""
        if self.scores is not None:
            self.scores.add_layer(queries, layer, self._step.memory.pool, options)

    def layout(self, window: int | None) -> Layout:
        """The groups for layers with this window, in slots."""
        if window not in self._layouts:
            self._layouts[window] = _layout(_groups(self._runs, window, self._step), self._step.rows)
        return self._layouts[window]


def attend(
    queries: mx.array,
    layer: int,
    plan: AttentionPlan,
    *,
    scale: float,
    window: int | None = None,
    sinks: mx.array | None = None,
    cap: float = 0.0,
) -> mx.array:
    """Attention of `queries` [rows, query heads, key_dim] over the pages of `layer`; [rows, query heads, value_dim].

    In a latent layer queries have key_dim + value_dim elements, and results key_dim. `window` counts the visible
    slots, a row's own included; `sinks` [query heads] join each softmax's denominator; scores are at most `cap`, if it
    is not 0.
    """
    if plan.kernels is not None:
        return plan.kernels.attend(queries, layer, scale=scale, window=window, sinks=sinks, cap=cap)
    if plan.scores is not None:
        options = AttentionOptions(scale, window or 0, cap, sinks, plan.shapes[layer].latent)
        plan.add_scores(queries, layer, options)
    layout = plan.layout(window)
    rows = queries if layout.take is None else queries[layout.take]
    outputs: list[mx.array] = []
    start = 0
    for group in layout.groups:
        count = group.rows * group.tokens
        outputs.append(_attend_group(rows[start : start + count], layer, group, plan, scale, sinks, cap))
        start += count
    joined = outputs[0] if len(outputs) == 1 else mx.concatenate(outputs)
    return joined if layout.back is None else joined[layout.back]


def _attend_group(
    queries: mx.array,
    layer: int,
    group: Group,
    plan: AttentionPlan,
    scale: float,
    sinks: mx.array | None,
    cap: float,
) -> mx.array:
    numerics, latent = plan.numerics, plan.shapes[layer].latent
    loaded = [part.read(layer) for part in group.parts]
    single = group.tokens == 1 and len(loaded) == 1 and not (latent or cap)
    if single and not numerics.avoids_exponentials(group.rows * queries.shape[1], loaded[0][0]):
        return _attend_token(queries, loaded[0], group, scale, sinks)
    heads = loaded[0][0].shape[1]
    scaled = _by_kv_head(queries, group, heads) * (scale / cap if cap else scale * LOG2_E)
    scored = [
        _latent_scores(scaled, *pair, part.common, numerics)
        if latent
        else _scores(scaled, pair[0], part.common, numerics)
        for part, pair in zip(group.parts, loaded, strict=True)
    ]
    bounded = [mx.tanh(each.astype(mx.float32)) * (cap * LOG2_E) if cap else each for each in scored]
    scores = [_biased(each.astype(mx.float32), part, group) for each, part in zip(bounded, group.parts, strict=True)]
    sink = None if sinks is None else _sink_logits(sinks, heads, group.tokens)
    top = _top(scores, sink)
    # Powers of two instead of e, with the factor in the queries: MLX's exp is 2.5 times slower on a CPU.
    weights = [mx.power(2.0, score - top) for score in scores]
    total = _sum([mx.sum(weight, axis=-1, keepdims=True) for weight in weights])
    if sink is not None:
        total = total + mx.power(2.0, sink - top)
    mixed = _sum(
        [
            _product(weight.astype(keys.dtype), keys if latent else values, part.common)
            for weight, part, (keys, values) in zip(weights, group.parts, loaded, strict=True)
        ]
    )
    out = _by_row((mixed / total).astype(queries.dtype), group)
    return out if group.blank is None else mx.where(group.blank, mx.zeros((), out.dtype), out)


def _attend_token(
    queries: mx.array, loaded: tuple[mx.array, mx.array], group: Group, scale: float, sinks: mx.array | None
) -> mx.array:
    """One token per row and nothing to merge: MLX's own attention needs the fewest operations."""
    (part,), (keys, values) = group.parts, loaded
    mask = None if part.bias is None else part.bias.astype(keys.dtype)
    out = mx.fast.scaled_dot_product_attention(
        queries[:, :, None].astype(keys.dtype), keys, values, scale=scale, mask=mask, sinks=sinks
    )
    rows = mx.squeeze(out, 2).astype(queries.dtype)
    return rows if group.blank is None else mx.where(group.blank, mx.zeros((), rows.dtype), rows)


def _by_kv_head(queries: mx.array, group: Group, heads: int) -> mx.array:
    """[rows * tokens, query heads, dim] as [rows, kv_heads, tokens * G, dim].

    One product multiplies the G query heads of a KV head, for all tokens, with its keys.
    """
    grouped = mx.unflatten(queries, 1, (heads, -1))
    if group.tokens == 1:
        return grouped
    return mx.unflatten(grouped, 0, (group.rows, group.tokens)).swapaxes(1, 2).flatten(2, 3)


def _by_row(out: mx.array, group: Group) -> mx.array:
    """[rows, kv_heads, tokens * G, dim] as [rows * tokens, query heads, dim]."""
    if group.tokens == 1:
        return out.flatten(1, 2)
    return mx.unflatten(out, 2, (group.tokens, -1)).swapaxes(1, 2).flatten(2, 3).flatten(0, 1)


def _scores(queries: mx.array, keys: mx.array, common: bool, numerics: Numerics) -> mx.array:
    """Every query times every key, [rows, kv_heads, m, keys]."""
    return _product(queries, keys.swapaxes(-1, -2), common=True) if common else numerics.scores(queries, keys)


def _latent_scores(queries: mx.array, latents: mx.array, ropes: mx.array, common: bool, numerics: Numerics) -> mx.array:
    """`_scores` of keys that are stored in two parts."""
    width = latents.shape[-1]
    scores = _scores(queries[..., :width], latents, common, numerics)
    return scores + _scores(queries[..., width:], ropes, common, numerics)


def _product(left: mx.array, right: mx.array, common: bool) -> mx.array:
    """`left` [rows, kv_heads, m, k] times `right` [rows or 1, kv_heads, k, n]. A common `right` takes one product."""
    left = left.astype(right.dtype)
    if not common:
        return left @ right
    rows, _, m, _ = left.shape
    only = mx.squeeze(right, 0)  # indexing would copy it
    return mx.unflatten(left.swapaxes(0, 1).flatten(1, 2) @ only, 1, (rows, m)).swapaxes(0, 1)


def _biased(scores: mx.array, part: Part, group: Group) -> mx.array:
    if part.bias is None:
        return scores
    if group.tokens == 1:
        return scores + part.bias
    return (mx.unflatten(scores, 2, (group.tokens, -1)) + part.bias[:, :, :, None]).flatten(2, 3)


def _sum(terms: Sequence[mx.array]) -> mx.array:
    return terms[0] if len(terms) == 1 else terms[0] + terms[1]


def _top(scores: Sequence[mx.array], sink: mx.array | None) -> mx.array:
    """The largest logit of each row, sinks included."""
    tops = [mx.max(score, axis=-1, keepdims=True) for score in scores] + ([] if sink is None else [sink])
    return functools.reduce(mx.maximum, tops)


def _sink_logits(sinks: mx.array, heads: int, tokens: int) -> mx.array:
    """Base-2 logits [1, kv_heads, tokens * G, 1]."""
    logits = mx.unflatten(sinks.astype(mx.float32) * LOG2_E, 0, (heads, 1, -1))
    return mx.broadcast_to(logits, (heads, tokens, logits.shape[2])).flatten(1, 2)[None, :, :, None]


def _layout(groups: list[Group], rows: int) -> Layout:
    order = [row for group in groups for row in group.order]
    if order == list(range(rows)):
        return Layout(groups, None, None)
    places = np.empty(rows, np.int32)
    for place, row in enumerate(order):
        if row != IDLE:
            places[row] = place
    return Layout(groups, integers(np.maximum(order, 0)), integers(places))


def _groups(runs: Sequence[Run], window: int | None, step: Step) -> list[Group]:
    pool = step.memory.pool
    singles = [run for run in runs if run.count == 1]
    shared, rest = shared_groups(singles, pool.page_size) if window is None else ([], singles)
    groups = [_shared_group(group, step) for group in shared]
    if rest:
        # The pages of a single run are read in place if they are neighbours; others cost a copy at every step.
        in_place = len(rest) == 1 and not pool.is_quantised and _neighbours(_pages_of(rest[0], window, pool))
        groups.append(_single(rest[0], window, pool) if in_place else _batch(rest, window, step))
    return groups + [block for run in runs if run.count > 1 for block in _blocks(run, window, pool)]


def _shared_group(group: Shared, step: Step) -> Group:
    pool, runs = step.memory.pool, group.runs
    request = BatchRequest(runs, [group.pages] * len(runs), None, runs[0].block_table[0], step.rows, step.before)
    tails = step.memory.batches.read(request, step.stored)
    prefix = Part(_run_source(runs[0], 0, group.pages * pool.page_size, pool), common=True)
    order = _starts(runs, tails.order)
    return Group(len(order), 1, order, (prefix, Part(tails.read, _bias(tails.visible))))


def _batch(runs: Sequence[Run], window: int | None, step: Step) -> Group:
    first = [first_visible(run, window) // step.memory.pool.page_size for run in runs]
    batch = step.memory.batches.read(BatchRequest(runs, first, window, None, step.rows, step.before), step.stored)
    part = Part(batch.read, _bias(batch.visible))
    order = _starts(runs, batch.order)
    return Group(len(order), 1, order, (part,), _blank(batch.visible))


def _starts(runs: Sequence[Run], order: Sequence[int]) -> list[int]:
    return [IDLE if index == IDLE else runs[index].start for index in order]


def _single(run: Run, window: int | None, pool: KvPool) -> Group:
    start = first_visible(run, window)
    if run.count == 1 and run.masks is None:  # it sees everything that is read
        return Group(1, 1, [run.start], (Part(_run_source(run, start, run.kv_length, pool)),))
    seen = visible(run, window, start, run.kv_length - start)[None]
    borders = [start, *_split(run, start, pool), run.kv_length]
    parts = [
        Part(_run_source(run, first, stop, pool), _bias(seen[:, :, first - start : stop - start]))
        for first, stop in itertools.pairwise(borders)
    ]
    return Group(1, run.count, range(run.start, run.start + run.count), tuple(parts), _blank(seen))


def _split(run: Run, start: int, pool: KvPool) -> list[int]:
    """The slot up to which the run's pages are neighbours, if these are many and others follow: those need no copy."""
    size = pool.page_size
    pages = np.asarray(run.block_table[start // size : -(-run.kv_length // size)])
    breaks = np.flatnonzero(np.diff(pages) != 1)
    if run.count == 1 or not len(breaks) or breaks[0] + 1 < LEAST_PAGES:
        return []
    return [(start // size + int(breaks[0]) + 1) * size]


def _blocks(run: Run, window: int | None, pool: KvPool) -> list[Group]:
    """Divides the run into groups with few enough scores."""
    size = max(16, MOST_SCORES // (64 * run.kv_length))
    return [
        _single(RunSlice(run, begin, min(size, run.count - begin)), window, pool) for begin in range(0, run.count, size)
    ]


def _run_source(run: Run, start: int, stop: int, pool: KvPool) -> RowSource:
    """Reads slots `start` .. `stop` of one run: a view if its pages are neighbours, otherwise gathered."""
    size = pool.page_size
    first = start // size
    pages = list(run.block_table[first : -(-stop // size)])
    if _neighbours(pages):
        base = (pages[0] - first) * size
        return functools.partial(pool.span, start=base + start, stop=base + stop)
    index = integers([pages])
    cut = slice(start - first * size, stop - first * size)

    def gathered(layer: int) -> tuple[mx.array, mx.array]:
        keys, values = pool.gather(layer, index)
        return keys[:, :, cut], values[:, :, cut]

    return gathered


def _pages_of(run: Run, window: int | None, pool: KvPool) -> Sequence[int]:
    """The pages that a decoding run sees."""
    return run.block_table[first_visible(run, window) // pool.page_size : -(-run.kv_length // pool.page_size)]


def _neighbours(pages: Sequence[int]) -> bool:
    return list(pages) == list(range(pages[0], pages[0] + len(pages)))


def _bias(seen: BoolArray) -> mx.array | None:
    """0 or -inf for `seen` [rows, tokens, keys]; None if everything is seen."""
    if seen.all():
        return None
    return from_host(np.where(seen, np.float32(0), np.float32(-np.inf))[:, None])


def _blank(seen: BoolArray) -> mx.array | None:
    blank = blank_rows(seen)
    return None if blank is None else from_host(blank.reshape(-1, 1, 1))
