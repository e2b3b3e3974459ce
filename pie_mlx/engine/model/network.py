"""What a loaded model asks of the network inside it."""

from collections.abc import Sequence
from typing import Protocol

import mlx.core as mx

from pie_mlx.engine.model.adapters import AdapterBank
from pie_mlx.engine.model.step import StepInput
from pie_mlx.metal import LayerShape, PageMemory


class Network(Protocol):
    """Computes logits over a page pool. One thread calls it.

    `forward` builds logits [R, vocabulary] float32 lazily and writes the step's K and V to the pool; `settle` keeps
    the running states of recurrent layers once they are evaluated. `window` is the smallest number of slots that a
    layer looks back, None when all see everything.
    """

    @property
    def adapters(self) -> AdapterBank: ...
    @property
    def shapes(self) -> Sequence[LayerShape]: ...
    @property
    def recurrent(self) -> bool: ...
    @property
    def window(self) -> int | None: ...
    @property
    def tier(self) -> str: ...
    @property
    def vocabulary_size(self) -> int: ...
    def forward(self, step: StepInput, memory: PageMemory) -> mx.array: ...
    def states(self) -> list[mx.array]: ...
    def settle(self) -> None: ...
    def fork(self, source: int, target: int) -> None: ...
    def drop(self, context: int) -> None: ...
