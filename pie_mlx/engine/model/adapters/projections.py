"""Makes projections add what a forward pass's rows ask for, and nothing at all in every other pass."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import mlx.core as mx

from pie_mlx.engine.model.adapters.additions import RowAdapters
from pie_mlx.engine.model.adapters.stacks import Stack
from pie_mlx.engine.model.adapters.targets import Target


class Projections:
    """Gives the modules of a model other classes while a pass with adapters is built, and their own back afterwards.

    So a pass without adapters costs nothing, and the tree of parameters keeps its names.
    """

    def __init__(self) -> None:
        self._rows: RowAdapters | None = None
        self._parts: dict[range, RowAdapters] = {}
        self._stacks: dict[str, Stack] = {}
        self._classes: dict[str, tuple[type, type]] = {}

    @contextmanager
    def adding(self, stacks: Iterable[Stack], rows: RowAdapters) -> Generator[None, None, None]:
        """Inside, the projections of `stacks` add to their rows. Not reentrant."""
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
