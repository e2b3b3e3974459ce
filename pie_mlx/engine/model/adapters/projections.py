"""Makes projections add what the rows of a forward pass require, and nothing in any other pass."""

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import mlx.core as mx

from pie_mlx.engine.model.adapters.expert_order import sorted_rows
from pie_mlx.engine.model.adapters.stacks import Stack
from pie_mlx.engine.model.adapters.targets import Target
from pie_mlx.engine.model.mlx_lm.hook import RowSelection
from pie_mlx.metal.kernels.lora_batched import RowGroups, group_rows, lora_batched, takes_rank
from pie_mlx.metal.kernels.requirements import SMALLEST_BUFFER
from pie_mlx.metal.launcher import KernelLauncher

KERNEL = "lora_batched"


@dataclass(frozen=True)
class RowAdapters:
    """The adapter slots of the token rows of a forward pass, 0 for none.

    Rows without an adapter keep their exact bits: if only some rows have one, the sum is selected per row instead of
    added to all.
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
        """The slot of all rows with an adapter, if it is the same; otherwise None."""
        used = set(self.slots) - {0}
        return used.pop() if len(used) == 1 else None

    @cached_property
    def all_adapted(self) -> bool:
        return 0 not in self.slots

    @cached_property
    def groups(self) -> RowGroups:
        """The rows as the kernel requires them."""
        return group_rows(self.slots)

    def linear(self, stack: Stack, x: mx.array, y: mx.array) -> mx.array:
        """`y` [.., out], a projection of `x` [.., in], plus the additions of its rows."""
        if stack.target.is_head and self.selection.rows is not None:
            return self._sum(stack, self.selection.select(x), y, self.slot[self.selection.rows])
        if self.launcher is not None and self.launcher.runs(KERNEL) and takes_rank(stack.rank):
            return self._by_kernel(self.launcher, stack, x, y)
        return self._sum(stack, x, y, self.slot)

    def experts(self, stack: Stack, x: mx.array, y: mx.array, indices: mx.array, *, in_order: bool) -> mx.array:
        """`y` [.., 1, out], projections of `x` by the experts `indices`, plus additions. `in_order`: they are
        sorted."""
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
        # On the host, and padded: no extra operation per matrix, and one kernel for all row counts.
        ones = mx.array([1.0] * max(SMALLEST_BUFFER, stack.downs.shape[0]))
        delta = lora_batched(launcher, x.flatten(0, -2), stack.downs, stack.ups, ones, self.groups)
        total = y + mx.unflatten(delta.flatten(), 0, y.shape)
        if self.all_adapted:
            return total
        return mx.where(mx.unflatten(self.slot > 0, 0, (*y.shape[:-1], 1)), total, y)


def _product(x: mx.array, downs: mx.array, ups: mx.array, member: mx.array) -> mx.array:
    """(x down) up, with the pair that `member` selects for each row of `x` [.., 1, in]."""
    return mx.gather_mm(mx.gather_mm(x, downs, rhs_indices=member), ups, rhs_indices=member)


class Projections:
    """Replaces the classes of a model's modules while a pass with adapters is built, and restores them afterwards.

    So a pass without adapters costs nothing, and parameter names stay the same.
    """

    def __init__(self) -> None:
        self._rows: RowAdapters | None = None
        self._parts: dict[range, RowAdapters] = {}
        self._stacks: dict[str, Stack] = {}
        self._classes: dict[str, tuple[type, type]] = {}

    @contextmanager
    def adding(self, stacks: Iterable[Stack], rows: RowAdapters) -> Generator[None, None, None]:
        """Inside the block, the projections of `stacks` add to their rows. Not reentrant."""
        self._rows, self._stacks = rows, {stack.target.path: stack for stack in stacks}
        targets = [stack.target for stack in self._stacks.values()]
        for target in targets:
            self._change(target)
        try:
            yield
        finally:
            for target in targets:
                cast("Any", target.module).__class__ = self._classes[target.path][0]
            self._rows, self._parts, self._stacks = None, {}, {}

    @contextmanager
    def only(self, rows: range) -> Generator[None, None, None]:
        """Inside `adding`, projections see these of its rows. Does nothing outside."""
        every = self._rows
        if every is None:
            yield
            return
        if rows not in self._parts:
            self._parts[rows] = replace(every, slots=every.slots[rows.start : rows.stop])
        self._rows = self._parts[rows]
        try:
            yield
        finally:
            self._rows = every

    def _change(self, target: Target) -> None:
        module = cast("Any", target.module)
        known = self._classes.get(target.path)
        if known is None or known[0] is not type(module):
            original = cast("Any", type(module))
            known = self._classes[target.path] = original, self._adding_class(target, original)
        module.__class__ = known[1]

    def _adding_class(self, target: Target, original: Any) -> type:
        path = target.path

        def linear(module: Any, x: mx.array) -> mx.array:
            return self._bound.linear(self._stacks[path], x, original.__call__(module, x))

        def experts(module: Any, x: mx.array, indices: mx.array, sorted_indices: bool = False) -> mx.array:
            y = original.__call__(module, x, indices, sorted_indices=sorted_indices)
            return self._bound.experts(self._stacks[path], x, y, indices, in_order=sorted_indices)

        return type(original.__name__, (original,), {"__call__": experts if target.experts else linear})

    @property
    def _bound(self) -> RowAdapters:
        if self._rows is None:
            raise RuntimeError("adapters: a projection is used outside a forward pass")
        return self._rows
