"""Transient memory of a step, besides weights and pages."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mlx.core as mx

from pie_mlx.engine.model.memory.segments import MOST, SEGMENT_BYTES
from pie_mlx.engine.model.mlx_lm.modules import LINEAR, SWITCH, Module, replaced_calls

LOGIT_COPIES = 4
"""float32 arrays of logits that exist at once: computed, scaled, masked, drawn from."""


@dataclass(frozen=True, slots=True)
class BatchSize:
    """A batch of `rows` tokens, of which `logit_rows` have their logits read."""

    rows: int
    logit_rows: int


USUAL_BATCH = BatchSize(2048, 64)
"""The largest batch of an engine with default settings."""


@dataclass(frozen=True, slots=True)
class Transients:
    """Sizes that determine the memory of a step.

    `row_bytes` is what all `layers` that store something output for one token row. `vocabulary_size` is the number of
    logits in a row.
    """

    row_bytes: int
    layers: int
    vocabulary_size: int

    def layer_bytes(self, rows: int) -> int:
        """Output bytes of a layer for `rows` rows, without copies of keys and values."""
        return rows * self.row_bytes // max(1, self.layers)

    def step_bytes(self, batch: BatchSize) -> int:
        """Most bytes alive at once: the segments in flight, one that is being started, and the logits."""
        layer = self.layer_bytes(batch.rows)
        at_once = (MOST + 1) * -(-SEGMENT_BYTES // layer) if layer else 0
        logits = batch.logit_rows * self.vocabulary_size * mx.float32.size * LOGIT_COPIES
        return min(at_once, self.layers) * layer + logits

    def fitting_rows(self, allowed_bytes: int, batch: BatchSize, fewest: int) -> int:
        """Rows of the largest batch, at most `batch`, that needs at most `allowed_bytes`. 0 if it has fewer than
        `fewest` rows."""
        rows = batch.rows
        while self.step_bytes(BatchSize(rows, min(rows, batch.logit_rows))) > allowed_bytes:
            if rows <= fewest:
                return 0
            rows = max(fewest, rows // 2)
        return rows


def traced_row_bytes(model: Module, heads: Sequence[Module], trace: Callable[[], tuple[Any, tuple[int, ...]]]) -> int:
    """Bytes that the layers output for one row. Builds a pass with `trace` and computes nothing.

    Counts inputs and outputs of projections: nearly everything that is not computed in place is one or the other.
    `heads` see selected rows and do not count.
    """
    projections = [
        module
        for _, module in model.named_modules()
        if isinstance(module, LINEAR + SWITCH) and not any(module is head for head in heads)
    ]
    sizes: list[int] = []

    def weighed(_: Module, call: Callable[..., Any]) -> Callable[..., Any]:
        def weighed_call(module: Module, *arguments: Any, **options: Any) -> Any:
            answer = call(module, *arguments, **options)
            sizes.append(_bytes(arguments[:1]) + _bytes(answer))
            return answer

        return weighed_call

    with replaced_calls(projections, weighed):
        _, output = trace()
    return sum(sizes) // math.prod(output[:-1])


def _bytes(value: Any) -> int:
    """Bytes of an array or of several: some projections return queries, keys and values together."""
    return int(value.nbytes) if isinstance(value, mx.array) else sum(map(_bytes, value))
