"""What one forward pass computes: token rows, where they go, what they see."""

from collections.abc import Sequence
from dataclasses import dataclass

import mlx.core as mx

from pie_mlx.metal.arrays import integers

AdapterUse = tuple[int, int, int]
"""An adapter, its version and a noise seed; adapter 0 is none, seed 0 no noise."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One context's tokens of this step: rows `start` .. `start + count`.

    `block_table` holds page ids in slot order, at least enough for `kv_length`, the slots held after the tokens are
    written; they occupy its last `count` slots. `masks` has one row of alternating run lengths over slots per token,
    ANDed with causality and the layer's window; None is causal. The last `drafts` tokens may be forgotten right after
    the step. `scored` is the place of the first token whose attention is summed by page, and how many there are.
    """

    context: int
    start: int
    count: int
    block_table: Sequence[int]
    kv_length: int
    masks: Sequence[Sequence[int]] | None = None
    drafts: int = 0
    scored: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class StepInput:
    """A ragged batch of T token rows. `slots` are physical: page * page_size + offset.

    `tokens` are an array int32 [T] where they are still being drawn. `adapters` has what each row is computed with,
    (adapter, version, noise seed); None when no row has any. In an equal-length batch all segments have `row_tokens`
    tokens at consecutive positions, and each is one row of the model's input; elsewhere every token is. The hidden
    states of `kept_rows` are wanted as well.
    """

    tokens: Sequence[int] | mx.array
    positions: Sequence[int]
    slots: Sequence[int]
    segments: Sequence[Segment]
    logit_rows: Sequence[int]
    adapters: Sequence[AdapterUse] | None = None
    row_tokens: int = 1
    kept_rows: Sequence[int] = ()

    def arranged(self, rows: Sequence[int], segments: Sequence[Segment], *, row_tokens: int = 1) -> "StepInput":
        """The step of these `rows` in this order, which are `segments`, with the logits asked of them."""
        place = {row: index for index, row in enumerate(rows)}
        tokens, adapters = self.tokens, self.adapters
        return StepInput(
            tokens=tokens[integers(rows)] if isinstance(tokens, mx.array) else [tokens[row] for row in rows],
            positions=[self.positions[row] for row in rows],
            slots=[self.slots[row] for row in rows],
            segments=segments,
            logit_rows=[place[row] for row in self.logit_rows if row in place],
            adapters=None if adapters is None else [adapters[row] for row in rows],
            row_tokens=row_tokens,
            kept_rows=[place[row] for row in self.kept_rows if row in place],
        )
