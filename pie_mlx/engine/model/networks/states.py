"""The running states of recurrent layers, one per context: values that contexts can share."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
import numpy.typing as npt

from pie_mlx.engine.model.networks.mixers import RowGroup
from pie_mlx.metal.arrays import evaluate, from_host, to_host

LayerStates = list[list[mx.array | None]]
"""Per recurrent layer its state arrays [contexts, ...]; None before the first token."""


@dataclass(frozen=True, slots=True)
class RecurrentState:
    """The state of one context behind its first `tokens` tokens, a value that contexts can share: a row of the batch it
    was computed in."""

    batch: LayerStates
    index: int
    size: int
    tokens: int

    @property
    def size_bytes(self) -> int:
        """What the row takes in memory of its own."""
        return sum(array.nbytes for layer in self.batch for array in layer if array is not None) // self.size

    def alone(self) -> "RecurrentState":
        """The state in memory of its own, computed. Call it on the MLX thread."""
        place = slice(self.index, self.index + 1)
        # Adding 0 copies: a contiguous row may still lie in the memory of its batch.
        rows = [
            [None if array is None else mx.contiguous(array[place], allow_col_major=False) + 0 for array in layer]
            for layer in self.batch
        ]
        evaluate([array for layer in rows for array in layer if array is not None])
        return RecurrentState(rows, 0, 1, self.tokens)

    def to_host(self) -> list[list[tuple[npt.NDArray[Any], str] | None]]:
        """Its arrays with their dtypes, bfloat16 as uint16. Call it on the MLX thread."""
        alone = self if self.size == 1 else self.alone()
        return [
            [None if array is None else (to_host(array), str(array.dtype).removeprefix("mlx.core.")) for array in layer]
            for layer in alone.batch
        ]

    @staticmethod
    def from_host(layers: Sequence[Sequence[tuple[npt.NDArray[Any], str] | None]], tokens: int) -> "RecurrentState":
        """Reverses `to_host`. Call it on the MLX thread."""
        return RecurrentState([[part and _from_host(*part) for part in layer] for layer in layers], 0, 1, tokens)


def _from_host(values: npt.NDArray[Any], dtype: str) -> mx.array:
    array = from_host(values)
    return array.view(mx.bfloat16) if dtype == "bfloat16" else array


class RecurrentStates:
    """States by context. A forward pass loads those of one group of rows after the other into mlx-lm's caches.

    States of a step are kept only by `settle`, once they are evaluated; arrays are immutable, so a fork shares them.
    """

    def __init__(self, caches: Sequence[Any]) -> None:
        self._caches = caches
        self._layers = {id(cache): layer for layer, cache in enumerate(caches)}
        self._rows: dict[int, RecurrentState] = {}
        self._pending: dict[int, RecurrentState] = {}
        self._groups: list[tuple[RowGroup, LayerStates]] = []

    def begin(self, groups: Sequence[RowGroup], stored: Callable[[mx.array], None]) -> None:
        """A forward pass over `groups` begins. Layers say what they `stored`."""
        self._groups = [(group, self._joined_states(group, stored)) for group in groups] if self._caches else []

    def load(self, group: int, cache: Any) -> None:
        """Put the states of a group of the pass into the cache of a layer, which leaves the new ones there."""
        cache.cache = self._groups[group][1][self._layers[id(cache)]]
        cache.lengths = cache.left_padding = None

    def load_all(self) -> None:
        """`load` the only group into the caches of all layers."""
        for cache in self._caches:
            self.load(0, cache)

    def end(self) -> None:
        """Take what the forward pass left."""
        for cache in self._caches:
            cache.cache = [None] * len(cache.cache)
        for group, states in self._groups:
            batch: LayerStates = [list(layer) for layer in states]
            for index, (context, end) in enumerate(zip(group.contexts, group.ends, strict=True)):
                self._pending[context] = RecurrentState(batch, index, len(group.contexts), end)
        self._groups = []

    def _joined_states(self, group: RowGroup, stored: Callable[[mx.array], None]) -> LayerStates:
        starts = [end - group.length for end in group.ends]
        rows = [None if group.fresh else self._row(*each) for each in zip(group.contexts, starts, strict=True)]
        return [
            _Parts((_joined(rows, layer, part) for part in range(len(cache.cache))), stored)
            for layer, cache in enumerate(self._caches)
        ]

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

    def contexts(self) -> list[int]:
        """Those that have a state."""
        return list(self._rows)

    def put(self, context: int, state: RecurrentState | None) -> None:
        """`context` continues from `state`."""
        if state is None:
            self._rows.pop(context, None)
        else:
            self._rows[context] = state

    def _row(self, context: int, tokens: int) -> RecurrentState:
        """The state behind the first `tokens` tokens. Any other one would give wrong tokens: raises RuntimeError."""
        found = self._pending.get(context) or self._rows.get(context)
        if found is None or found.tokens != tokens:
            known = "none" if found is None else f"one of {found.tokens} tokens"
            raise RuntimeError(f"context {context}: a pass behind {tokens} tokens needs their state, there is {known}")
        return found


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
    """One state array of all rows, [rows, ...]; None where they begin."""
    known = [row for row in rows if row is not None]
    if not known or known[0].batch[layer][part] is None:
        return None
    if len(known) == known[0].size and _in_order(known):
        return known[0].batch[layer][part]
    return mx.concatenate([_single(row, layer, part) for row in known])


def _in_order(rows: Sequence[RecurrentState]) -> bool:
    return all(row.batch is rows[0].batch and row.index == index for index, row in enumerate(rows))


def _single(row: RecurrentState, layer: int, part: int) -> mx.array:
    array = row.batch[layer][part]
    if array is None:
        raise RuntimeError("a recurrent layer has a state of some contexts and none of others")
    return array[row.index : row.index + 1]
