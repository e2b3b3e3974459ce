"""What projections add in one forward pass, every row with its own adapter."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import mlx.core as mx

from pie_mlx.engine.model.adapters.expert_order import sorted_rows
from pie_mlx.engine.model.adapters.stacks import Stack
from pie_mlx.engine.model.mlx_lm.head import RowSelection
from pie_mlx.metal.kernels.lora_batched import RowGroups, group_rows, lora_batched, takes_rank
from pie_mlx.metal.kernels.requirements import SMALLEST_BUFFER
from pie_mlx.metal.launcher import KernelLauncher

KERNEL = "lora_batched"


@dataclass(frozen=True)
class RowAdapters:
    """The adapter slots of the token rows of a forward pass, 0 for none.

    Rows without an adapter keep their bits: where not all rows have one, sums are chosen, not added to.
    """

    slots: Sequence[int]
    selection: RowSelection
    launcher: KernelLauncher | None

    @cached_property
    def slot(self) -> mx.array:
        """uint32 [rows]."""
        return mx.array(list(self.slots), dtype=mx.uint32)

    @cached_property
    def only(self) -> int | None:
        """The one slot of all rows that have an adapter; None when there are several."""
        used = set(self.slots) - {0}
        return used.pop() if len(used) == 1 else None

    @cached_property
    def all_adapted(self) -> bool:
        return 0 not in self.slots

    @cached_property
    def groups(self) -> RowGroups:
        """The rows as the kernel wants them."""
        return group_rows(self.slots)

    def linear(self, stack: Stack, x: mx.array, y: mx.array) -> mx.array:
        """`y` [.., out], a projection of `x` [.., in], with the additions of its rows."""
        if stack.target.is_head and self.selection.rows is not None:
            return self._sum(stack, self.selection.select(x), y, self.slot[self.selection.rows])
        if self.launcher is not None and self.launcher.runs(KERNEL) and takes_rank(stack.rank):
            return self._by_kernel(self.launcher, stack, x, y)
        return self._sum(stack, x, y, self.slot)

    def experts(self, stack: Stack, x: mx.array, y: mx.array, indices: mx.array, *, in_order: bool) -> mx.array:
        """`y` [.., 1, out], projections of `x` by the experts `indices`, which are sorted if `in_order`."""
        slot = self.slot[sorted_rows()] if in_order else mx.unflatten(self.slot, 0, (*indices.shape[:-1], 1))
        experts = stack.target.experts
        member = slot * experts + indices.astype(mx.uint32)
        delta = _product(x, stack.downs.flatten(0, 1), stack.ups.flatten(0, 1), member)
        if self.all_adapted:
            return y + delta
        return mx.where((slot > 0)[..., None, None], y + delta, y)

    def _sum(self, stack: Stack, x: mx.array, y: mx.array, slot: mx.array) -> mx.array:
        if self.only is not None:
            delta = (x @ stack.downs[self.only]) @ stack.ups[self.only]
        else:
            rows = mx.unflatten(x.flatten(0, -2), 0, (-1, 1))
            delta = mx.unflatten(_product(rows, stack.downs, stack.ups, slot).flatten(), 0, y.shape)
        if self.all_adapted:
            return y + delta
        return mx.where(mx.unflatten(slot > 0, 0, (*y.shape[:-1], 1)), y + delta, y)

    def _by_kernel(self, launcher: KernelLauncher, stack: Stack, x: mx.array, y: mx.array) -> mx.array:
        # Of the host, and enough of them: not one more operation for each matrix, and one kernel for all counts.
        ones = mx.array([1.0] * max(SMALLEST_BUFFER, stack.downs.shape[0]))
        delta = lora_batched(launcher, x.flatten(0, -2), stack.downs, stack.ups, ones, self.groups)
        total = y + mx.unflatten(delta.flatten(), 0, y.shape)
        if self.all_adapted:
            return total
        return mx.where(mx.unflatten(self.slot > 0, 0, (*y.shape[:-1], 1)), total, y)


def _product(x: mx.array, downs: mx.array, ups: mx.array, member: mx.array) -> mx.array:
    """(x down) up with the pair that `member` names for each row of `x` [.., 1, in]."""
    return mx.gather_mm(mx.gather_mm(x, downs, rhs_indices=member), ups, rhs_indices=member)
