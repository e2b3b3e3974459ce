"""Records what an engine on the emulator does to its pool, as a story that the simulated encoder replays."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import mlx.core as mx
import numpy as np

from pie_mlx.metal import arrays
from pie_mlx.metal.emulator import Builder, Emulator
from pie_mlx.metal.emulator.story import Story, flat
from pie_mlx.metal.launcher import KernelLauncher, emulator_launcher
from pie_mlx.metal.page_pool.kernel_pool import KernelPool
from pie_mlx.metal.page_pool.pool import KvPool


class Recorder:
    """A launcher for an engine, and the story of the pools that were allocated on it."""

    def __init__(self, builder: Builder) -> None:
        self._pools: list[KernelPool] = []
        self.story = Story(lambda: [fence for pool in self._pools for fence in pool.arrays()])
        self.launcher: KernelLauncher = emulator_launcher(Emulator(builder, on_access=self.story.launched))

    @contextmanager
    def recording(self) -> Iterator[Story]:
        """Everything within the block becomes part of the story. Pools must be allocated in it."""
        with ExitStack() as stack:
            self._watch_evaluations(stack)
            self._watch_pools(stack)
            yield self.story

    def _watch_evaluations(self, stack: ExitStack) -> None:
        def evaluate(*values: object) -> None:
            real_evaluate(*values)
            self.story.waited(flat(values))

        def begin(*values: object) -> None:
            real_begin(*values)
            self.story.begun()

        def synchronize() -> None:
            self.story.synchronized()

        real_evaluate, real_begin = arrays.evaluate, arrays.begin_evaluation
        for old, new in ((real_evaluate, evaluate), (real_begin, begin)):
            _replace_everywhere(stack, old, new)
        stack.enter_context(patch.object(mx, "synchronize", synchronize))

    def _watch_pools(self, stack: ExitStack) -> None:
        make = KernelPool.__init__

        def made(pool: KernelPool, *given: object, **named: object) -> None:
            make(pool, *given, **named)  # type: ignore[arg-type]
            self._pools.append(pool)

        stack.enter_context(patch.object(KernelPool, "__init__", made))
        for name in ("rows", "span"):
            stack.enter_context(patch.object(KvPool, name, self._reading(name, getattr(KvPool, name))))

    def _reading(self, name: str, read: Callable[..., object]) -> Callable[..., object]:
        def watched(pool: KvPool, layer: int, *which: object) -> object:
            made = read(pool, layer, *which)
            if isinstance(pool, KernelPool):
                slots = range(*which) if name == "span" else np.asarray(which[0])  # type: ignore[arg-type]
                pair = (pool.layers[layer].keys, pool.layers[layer].values)
                self.story.read(name, pair, [_chosen(array, np.array(slots)) for array in pair], list(flat(made)))
            return made

        return watched


def _chosen(array: mx.array, slots: np.ndarray) -> np.ndarray:
    """Which elements of pages [pages, page size, ...] lie in these slots."""
    chosen = np.zeros(array.shape, np.bool_)
    chosen.reshape(-1, *array.shape[2:])[slots] = True
    return chosen


def _replace_everywhere(stack: ExitStack, old: object, new: object) -> None:
    """Functions are imported by name: replace them in each module that has done so."""
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("pie_mlx") and not module_name.startswith("pie_mlx.metal.emulator"):
            for name, value in list(vars(module).items()):
                if value is old:
                    stack.enter_context(patch.object(module, name, new))
