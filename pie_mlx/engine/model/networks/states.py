"""The running states of recurrent layers, one per context: values that contexts can share."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import mlx.core as mx

from pie_mlx.engine.model.step import Segment

LayerStates = list[list[mx.array | None]]
"""Per recurrent layer its state arrays [contexts, ...]; None before the first token."""


@dataclass(frozen=True, slots=True)
class RecurrentState:
    """The state of one context, a value that contexts can share: a row of the batch it was computed in."""

    batch: LayerStates
    index: int
    size: int


class RecurrentStates:
    """States by context. `begin` loads a batch into mlx-lm's caches, `end` takes the new states from them.

    States of a step are kept only by `settle`, once they are evaluated; arrays are immutable, so a fork shares them.
    """

    def __init__(self, caches: Sequence[Any]) -> None:
        self._caches = caches
        self._rows: dict[int, RecurrentState] = {}
        self._pending: dict[int, RecurrentState] = {}

    def begin(self, segments: Sequence[Segment], stored: Callable[[mx.array], None]) -> None:
        """Load the states of the contexts of `segments`, in order; one that begins here starts from nothing.

        Layers say what they `stored`.
        """
        rows = [None if each.kv_length == each.count else self._row(each.context) for each in segments]
        for layer, cache in enumerate(self._caches):
            cache.cache = _Parts((_joined(rows, layer, part) for part in range(len(cache.cache))), stored)
            cache.lengths = cache.left_padding = None

    def end(self, segments: Sequence[Segment]) -> None:
        """Take what the forward pass left in the caches."""
        batch: LayerStates = [list(cache.cache) for cache in self._caches]
        for cache in self._caches:
            cache.cache = [None] * len(cache.cache)
        for index, each in enumerate(segments):
            self._pending[each.context] = RecurrentState(batch, index, len(segments))

    def arrays(self) -> list[mx.array]:
        """States not yet kept; evaluate them with the outputs of the step."""
        batches = {id(row.batch): row.batch for row in self._pending.values()}
        return [array for batch in batches.values() for layer in batch for array in layer if array is not None]

    def settle(self) -> None:
        """Keep the states of the step."""
        self._rows.update(self._pending)
        self._pending.clear()

    def discard(self) -> None:
        """Drop what a failed step left."""
        self._pending.clear()

    def of(self, context: int) -> RecurrentState | None:
        """The state of `context`, None before its first token."""
        return self._rows.get(context)

    def put(self, context: int, state: RecurrentState | None) -> None:
        """`context` continues from `state`."""
        if state is None:
            self._rows.pop(context, None)
        else:
            self._rows[context] = state

    def _row(self, context: int) -> RecurrentState | None:
        return self._pending.get(context) or self._rows.get(context)


class _Parts(list[mx.array | None]):
    """The state arrays of a layer; the layer has computed its state when it puts the last one."""

    def __init__(self, parts: Iterable[mx.array | None], stored: Callable[[mx.array], None]) -> None:
        super().__init__(parts)
        self._stored = stored

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, value)
        if index == len(self) - 1:
            self._stored(value)


def _joined(rows: Sequence[RecurrentState | None], layer: int, part: int) -> mx.array | None:
    """One state array of all rows, [rows, ...]; zeros for fresh rows, None if all are."""
    known = [row for row in rows if row is not None and row.batch[layer][part] is not None]
    if not known:
        return None
    if len(known) == len(rows) == known[0].size and _in_order(known):
        return known[0].batch[layer][part]
    sample = known[0].batch[layer][part]
    return mx.concatenate([_single(row, layer, part, sample) for row in rows])


def _in_order(rows: Sequence[RecurrentState]) -> bool:
    return all(row.batch is rows[0].batch and row.index == index for index, row in enumerate(rows))


def _single(row: RecurrentState | None, layer: int, part: int, sample: mx.array | None) -> mx.array:
    array = None if row is None else row.batch[layer][part]
    if row is not None and array is not None:
        return array[row.index : row.index + 1]
    if sample is None:
        raise RuntimeError("a recurrent state has no shape")
    return mx.zeros((1, *sample.shape[1:]), sample.dtype)
