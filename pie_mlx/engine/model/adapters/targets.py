"""Targets: the projections of a model that adapters can add to."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mlx.core as mx

from pie_mlx.engine.model.mlx_lm.modules import LINEAR, SWITCH, Module, replaced_calls


@dataclass(frozen=True, slots=True)
class Target:
    """A projection from `width` to `out`. `experts` is the number of experts, 0 for a plain projection.

    `layer` is the number of its block, None outside of blocks. `number` distinguishes the projections of a block.
    `is_head`: it sees only rows whose logits are needed.
    """

    path: str
    module: Module
    width: int
    out: int
    experts: int
    layer: int | None
    number: int
    is_head: bool

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    def down_shape(self, rank: int) -> tuple[int, ...]:
        return (self.experts, self.width, rank) if self.experts else (self.width, rank)

    def up_shape(self, rank: int) -> tuple[int, ...]:
        return (self.experts, rank, self.out) if self.experts else (rank, self.out)


def find_targets(
    model: Module, heads: Sequence[Module], trace: Callable[[], tuple[Any, tuple[int, ...]]]
) -> dict[str, Target]:
    """Projections by path, in order of path: those that see every token row exactly once in the pass that `trace`
    builds.

    `heads` are the projections that see selected rows. `trace` also returns the shape of the output.
    """
    candidates: list[Target] = []
    numbers: dict[int | None, int] = {}
    for path, module in sorted(model.named_modules(), key=lambda entry: entry[0]):
        sizes = _sizes(module)
        if sizes is None:
            continue
        layer = next((int(part) for part in path.split(".") if part.isdigit()), None)
        number = numbers[layer] = numbers.get(layer, -1) + 1
        width, out, experts = sizes
        head = any(module is one for one in heads)
        candidates.append(Target(path, module, width, out, experts, layer, number, head))
    rows, seen = _rows_seen(candidates, trace)
    return {target.path: target for target in candidates if set(seen[target.path]) == {rows}}


def _rows_seen(
    candidates: Sequence[Target], trace: Callable[[], tuple[Any, tuple[int, ...]]]
) -> tuple[int, dict[str, list[int]]]:
    """The token rows of a traced pass, and the number of rows in each call of each projection."""
    seen: dict[str, list[int]] = {target.path: [] for target in candidates}
    known = {id(target.module): target for target in candidates}

    def counting(module: Module, call: Callable[..., mx.array]) -> Callable[..., mx.array]:
        target = known[id(module)]

        def counted(module: Module, *arguments: Any, **options: Any) -> mx.array:
            rows: mx.array = arguments[1] if target.experts else arguments[0]
            seen[target.path].append(math.prod(rows.shape[:-1]))
            return call(module, *arguments, **options)

        return counted

    with replaced_calls([target.module for target in candidates], counting):
        _, output = trace()
    return math.prod(output[:-1]), seen


def _sizes(module: Any) -> tuple[int, int, int] | None:
    """(in, out, experts) of a projection, None for other modules."""
    if isinstance(module, SWITCH):
        switch: Any = module
        return switch.input_dims, switch.output_dims, switch.num_experts
    if not isinstance(module, LINEAR):
        return None
    linear: Any = module
    out, width = linear.weight.shape
    return width * 32 // linear.bits if hasattr(linear, "bits") else width, out, 0
