"""Batches: rows over different pages side by side, as attention in MLX operations reads them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.metal.arrays import integers
from pie_mlx.metal.runs import BoolArray, Run, visible

IDLE = -1
"""Replaces the index of a row's run: the row is computed and discarded."""


class UnevaluatedError(Exception):
    """The next step needs work on the host while another step is computed. Build it later."""


KeysAndValues = tuple[mx.array, mx.array]
HostViews = Sequence[tuple[npt.NDArray[Any], npt.NDArray[Any]]]
"""K and V by layer in host memory."""
Read = Callable[[int], KeysAndValues]
Stored = Mapping[int, KeysAndValues]
"""K and V of the step's rows by layer, [rows, kv_heads, head_dim]."""


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """Single-token `runs` of a step with `step_rows` rows, each read from page `first` of its table on.

    `prefix` is the first page of a common part that is read separately; `before` is the pool before the step.
    """

    runs: Sequence[Run]
    first: Sequence[int]
    window: int | None
    prefix: int | None
    step_rows: int
    before: HostViews


@dataclass(frozen=True, slots=True)
class Batch:
    """K and V of some runs by layer, padded to the longest, and the slots that each row sees: [rows, 1, keys].

    `order` gives the index of each row's run, or IDLE for an idle row, which sees everything.
    """

    read: Read
    visible: BoolArray
    order: list[int]


class RowBatches:
    """Gathers rows at every step, with the pool's `gather`."""

    def __init__(self, page_size: int, gather: Callable[[int, mx.array], KeysAndValues]) -> None:
        self._page_size, self._gather = page_size, gather

    def arrays(self, layers: range | None = None) -> list[mx.array]:
        """Arrays that a step may write, in `layers` or in all. Evaluate them at the end of each step."""
        del layers
        return []

    def before_step(self) -> HostViews:
        """What `read` needs from the pool before a step, taken while nothing is computed."""
        return ()

    def read(self, request: BatchRequest, stored: Stored) -> Batch:
        """The requested batch. When a layer is read, `stored` must hold what the step writes to it.

        Raises UnevaluatedError if the host would have to read a pool that is not evaluated.
        """
        del stored
        size = self._page_size
        pairs = list(zip(request.runs, request.first, strict=True))
        tables = [run.block_table[start : -(-run.kv_length // size)] for run, start in pairs]
        pages = np.empty((len(tables), max(map(len, tables))), np.int32)
        for row, table in enumerate(tables):
            pages[row, : len(table)] = table
            # Padding repeats a page of the run: content of other runs must not reach it, not even multiplied by zero.
            pages[row, len(table) :] = table[-1]
        index, width = integers(pages), pages.shape[1] * size
        seen = [visible(run, request.window, start * size, width) for run, start in pairs]
        return Batch(once(lambda layer: self._gather(layer, index)), np.stack(seen), list(range(len(tables))))


def once(read: Read) -> Read:
    """`read` that returns the same arrays if a layer is read again in the same step."""
    done: dict[int, KeysAndValues] = {}

    def known(layer: int) -> KeysAndValues:
        if layer not in done:
            done[layer] = read(layer)
        return done[layer]

    return known
