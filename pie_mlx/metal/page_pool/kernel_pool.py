"""The page pool for kernels: written in place through an input, ordered by fences."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass

import mlx.core as mx
import numpy as np

from pie_mlx.metal.arrays import evaluate, host_view, to_host
from pie_mlx.metal.faults import suspects
from pie_mlx.metal.kernels.kv_quantised import (
    Pool,
    QuantisedPool,
    elements,
    kv_write_quantised,
    pool_array,
)
from pie_mlx.metal.kernels.kv_write import kv_write
from pie_mlx.metal.kernels.latent_attention import LATENT_ROWS
from pie_mlx.metal.kernels.page_moves import page_copy, page_gather, page_scatter
from pie_mlx.metal.kernels.paged_attention import carries_sizes
from pie_mlx.metal.kernels.requirements import first_fence, padded
from pie_mlx.metal.launcher import KernelLauncher
from pie_mlx.metal.page_pool.pool import HostContent, KeysAndValues, KvPool, SlotWrite
from pie_mlx.metal.page_pool.shapes import LayerShape
from pie_mlx.metal.page_pool.storage import HostPages

NEEDED = ("kv_write", "paged_attention", "attention_merge", "page_copy", "page_gather", "page_scatter")
PAGES_AT_ONCE = 64
"""Most pages read in one evaluation: its copies need memory just when memory is short."""


def kernels_carry(launcher: KernelLauncher, shapes: Sequence[LayerShape], page_size: int) -> bool:
    """Whether the launcher has every kernel that the page path needs, and these support the sizes."""
    return (
        all(launcher.runs(kernel) for kernel in NEEDED)
        and (launcher.runs("kv_write_quantised") or all(shape.quantisation is None for shape in shapes))
        and page_size & (page_size - 1) == 0
        and bool(shapes)
        and all(carries_sizes(shape.key_dim, shape.value_dim, latent=shape.latent) for shape in shapes)
    )


@dataclass(slots=True)
class LayerPages:
    """One layer: K and V [pages, page_size, kv_heads, head_dim] or quantised, and the fence of the last kernel that
    touched them."""

    k_pool: Pool
    v_pool: Pool
    fence: mx.array

    @property
    def keys(self) -> mx.array:
        return pool_array(self.k_pool)

    @property
    def values(self) -> mx.array:
        return pool_array(self.v_pool)


class KernelPool(KvPool):
    """A KvPool for kernels.

    Every kernel on a layer takes the fence of the previous one, readers included, so nothing needs evaluation between
    steps. `arrays()` are the fences: evaluating a fence runs its write. MLX operations never write here.
    """

    ordered = True

    def __init__(
        self, shapes: Sequence[LayerShape], *, pages: int, page_size: int, dtype: mx.Dtype, launcher: KernelLauncher
    ) -> None:
        self.launcher = launcher
        self.layers: list[LayerPages] = []
        super().__init__(shapes, pages=pages, page_size=page_size, dtype=dtype)
        for shape, keys, values in zip(self.shapes, self._keys, self._values, strict=True):
            paged = [mx.unflatten(array, 0, (pages, page_size)) for array in (keys, values)]
            kind = shape.quantisation
            k_pool, v_pool = paged if kind is None else [QuantisedPool(words, kind) for words in paged]
            self.layers.append(LayerPages(k_pool, v_pool, first_fence()))
        evaluate([[layer.keys, layer.values] for layer in self.layers])
        self._step_slots: tuple[SlotWrite, mx.array] | None = None

    @property
    def takes_segments(self) -> bool:
        """True: fences order all work, across steps too."""
        return True

    @property
    def gather_rows(self) -> int:
        """Rows of one context from which their pages are gathered."""
        return LATENT_ROWS if self.latent else self.launcher.gather_rows

    def gathers(self, rows: int) -> bool:
        """True only for long chunks, which MLX's own operations compute."""
        return rows >= self.gather_rows

    def arrays(self) -> list[mx.array]:
        """The last fence of every layer."""
        return [layer.fence for layer in self.layers]

    def revision(self, layers: range) -> Callable[[], None]:
        """Returns a function that restores the present fences of `layers`. Kernels outside the chains then never run.

        It waits for kernels that have begun, because nothing would order them with later ones on the older fences.
        Raises their errors.
        """
        fences = [(self.layers[layer], self.layers[layer].fence) for layer in layers]

        def restore() -> None:
            mx.synchronize()
            for layer, fence in fences:
                layer.fence = fence

        return restore

    def recover(self) -> None:
        """Begins new chains: a fence of the failed step would fail in every later step."""
        with suppress(RuntimeError):  # the failed step raises again
            mx.synchronize()
        for layer in self.layers:
            layer.fence = first_fence()

    def await_release(self) -> None:
        """Does nothing: kernels write to arrays even while MLX holds them."""

    def suspects(self, error: Exception) -> frozenset[str]:
        """Launched kernels that may have caused `error`."""
        return suspects(error, self.launcher.launched)

    def without(self, kernels: Collection[str]) -> KvPool:
        """A pool over the same pages without these kernels: this one, or one of MLX operations."""
        self.launcher = self.launcher.without(kernels)
        if kernels_carry(self.launcher, self.shapes, self.page_size):
            return self
        self.layers.clear()  # with a view left, MLX would copy the array at a write
        held = KvPool.arrays(self)
        self._keys, self._values = list[mx.array](), list[mx.array]()
        return KvPool(self.shapes, pages=self.pages, page_size=self.page_size, dtype=self.dtype, arrays=held)

    def write(self, layer: int, keys: mx.array, values: mx.array, write: SlotWrite) -> KeysAndValues:
        """Store `keys` [rows, kv_heads, key_dim] and `values` [rows, kv_heads, value_dim]; K is already rotated.

        Returns them: kernels read what they see from the pages.
        """
        pages, new = self.layers[layer], (keys.astype(self.dtype), values.astype(self.dtype))
        slots = self._slots_of(write)
        if isinstance(pages.k_pool, QuantisedPool) and isinstance(pages.v_pool, QuantisedPool):
            pools = pages.k_pool, pages.v_pool
            pages.fence = kv_write_quantised(self.launcher, *new, *pools, slots, pages.fence)
        else:
            pages.fence = kv_write(self.launcher, *new, pages.keys, pages.values, slots, pages.fence)
        return new

    def rows(self, layer: int, slots: mx.array) -> KeysAndValues:
        """K and V of `slots` int32 [n], [n, kv_heads, head_dim]."""
        return self._between_kernels(layer, lambda: KvPool.rows(self, layer, slots))

    def span(self, layer: int, start: int, stop: int) -> KeysAndValues:
        """K and V of the slots `start` .. `stop`, [1, kv_heads, n, head_dim]."""
        return self._between_kernels(layer, lambda: KvPool.span(self, layer, start, stop))

    def gather(self, layer: int, pages: mx.array) -> KeysAndValues:
        """K and V of `pages` int32 [b, n], [b, kv_heads, n * page_size, head_dim]."""
        shape = pages.shape
        gathered = self._gathered(layer, [int(page) for page in to_host(pages).flat])
        keys, values = elements(self.layers[layer].k_pool, gathered, self.dtype)
        return _batched(keys, shape), _batched(values, shape)

    def _host_pages(self) -> list[HostPages]:
        evaluate(self.arrays())
        return [host_view(array) for layer in self.layers for array in (layer.keys, layer.values)]

    def _read_on_device(self, pages: Sequence[int]) -> HostContent:
        if len(pages) <= PAGES_AT_ONCE:
            return self._read_at_once(pages)
        starts = range(0, len(pages), PAGES_AT_ONCE)
        parts = [self._read_at_once(pages[start : start + PAGES_AT_ONCE]) for start in starts]
        return [
            (np.concatenate([keys for keys, _ in layer]), np.concatenate([values for _, values in layer]))
            for layer in zip(*parts, strict=True)
        ]

    def _read_at_once(self, pages: Sequence[int]) -> HostContent:
        taken = [self._gathered(layer, pages) for layer in range(len(self.layers))]
        evaluate(taken)
        return [(self._paged(keys.flatten(0, 1)), self._paged(values.flatten(0, 1))) for keys, values in taken]

    def _write_on_device(self, pages: Sequence[int], content: HostContent) -> None:
        size = (-1, self.page_size)
        for layer, (keys, values) in enumerate(content):
            new = [mx.unflatten(self._rows_of(array), 0, size) for array in (keys, values)]
            self._scatter(layer, pages, new[0], new[1])
        self._changed(pages)
        evaluate(self.arrays())

    def copy_pages(self, copies: Sequence[tuple[int, int, int]]) -> None:
        """Copies the first `rows` slots of page `source` to page `target` for each (source, target, rows), in order."""
        for part in independent_copies(copies):
            sources, targets, rows = (list(column) for column in zip(*part, strict=True))
            for layer in self.layers:
                layer.fence = page_copy(self.launcher, layer.keys, layer.values, sources, targets, rows, layer.fence)
            self._changed(targets)

    def _slots_of(self, write: SlotWrite) -> mx.array:
        if self._step_slots is None or self._step_slots[0] is not write:
            self._step_slots = write, padded(write.slots.tolist(), fill=-1)
        return self._step_slots[1]

    def _gathered(self, layer: int, pages: Sequence[int]) -> KeysAndValues:
        own = self.layers[layer]
        whole = [self.page_size] * len(pages)
        keys, values, own.fence = page_gather(self.launcher, own.keys, own.values, pages, whole, own.fence)
        return keys, values

    def _scatter(self, layer: int, pages: Sequence[int], keys: mx.array, values: mx.array) -> None:
        own = self.layers[layer]
        whole = [self.page_size] * len(pages)
        own.fence = page_scatter(self.launcher, keys, values, own.keys, own.values, pages, whole, own.fence)

    def _between_kernels(self, layer: int, read: Callable[[], KeysAndValues]) -> KeysAndValues:
        """Reads with MLX operations, which no fence orders: after all kernels so far, and finished before the next
        one."""
        evaluate(self.layers[layer].fence)
        taken = read()
        evaluate(taken)
        return taken


def _batched(pages: mx.array, shape: tuple[int, ...]) -> mx.array:
    """[b * n, page_size, kv_heads, head_dim] as [b, kv_heads, n * page_size, head_dim]."""
    return mx.unflatten(pages, 0, shape).flatten(1, 2).swapaxes(1, 2)


def independent_copies(copies: Sequence[tuple[int, int, int]]) -> list[list[tuple[int, int, int]]]:
    """Divides the copies, in order, so that within a part no page is written twice or both read and written."""
    parts: list[list[tuple[int, int, int]]] = []
    read: set[int] = set()
    written: set[int] = set()
    for copy in copies:
        source, target, _ = copy
        if not parts or source in written or target in written | read or source == target:
            parts.append([])
            read, written = set(), set()
        parts[-1].append(copy)
        read.add(source)
        written.add(target)
    return parts
