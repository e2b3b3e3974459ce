"""The page pool in host memory. Layers compute while Python builds the rest of a step."""

from collections.abc import Sequence

import mlx.core as mx

from pie_mlx.backends.cpu.mirror import Mirrors
from pie_mlx.backends.cpu.numerics import CpuNumerics
from pie_mlx.backends.cpu.storage import HeadMajor, can_discard, discard
from pie_mlx.metal.arrays import begin_evaluation, host_view
from pie_mlx.metal.batches import HostViews
from pie_mlx.metal.page_pool.pool import KeysAndValues, KvPool, SlotWrite
from pie_mlx.metal.page_pool.shapes import LayerShape


class CpuPool(KvPool):
    """A KvPool whose layers begin as soon as they are built."""

    numerics = CpuNumerics()

    def __init__(self, shapes: Sequence[LayerShape], *, pages: int, page_size: int, dtype: mx.Dtype) -> None:
        self._by_head = HeadMajor()
        super().__init__(shapes, pages=pages, page_size=page_size, dtype=dtype, storage=self._by_head)

    @property
    def takes_segments(self) -> bool:
        """False: the pool begins layers itself."""
        return False

    def await_release(self) -> None:
        """Does nothing: on a CPU, MLX releases inputs as soon as they are evaluated."""

    def write(self, layer: int, keys: mx.array, values: mx.array, write: SlotWrite) -> KeysAndValues:
        """Store `keys` [rows, kv_heads, key_dim] and `values` [rows, kv_heads, value_dim]; K is already rotated.

        Returns what attention sees of them.
        """
        seen = super().write(layer, keys, values, write)
        if self.evaluated and layer % 2 == 0:
            begin_evaluation(self._keys[layer])
        return seen

    def batches(self) -> Mirrors:
        """Mirrors of this pool."""
        return Mirrors(self, self._host_views)

    def _host_views(self) -> HostViews:
        """K and V of every slot by layer, [kv_heads, slots, head_dim] or words: views, valid until the end of the step.

        Only between steps. What the next step writes appears in them once it is computed.
        """
        pairs = zip(self._keys, self._values, strict=True)
        return [(host_view(keys), host_view(values)) for keys, values in pairs]

    @property
    def returns_memory(self) -> bool:
        """True if the system takes memory back."""
        return can_discard()

    def discard(self, pages: Sequence[int]) -> int:
        """Returns the memory of pages, whose content is lost, to the system. Returns the bytes freed."""
        if not pages or not self.returns_memory:
            return 0
        self._changed(pages)
        size, order = self.page_size, sorted(pages)
        cuts = [place for place, page in enumerate(order) if not place or page != order[place - 1] + 1]
        runs = [
            (order[first] * size, (order[last - 1] + 1) * size)
            for first, last in zip(cuts, [*cuts[1:], len(order)], strict=True)
        ]
        return sum(
            discard(host_view(array), (span for run in runs for span in self._by_head.spans(array, *run)))
            for array in self.arrays()
            if array.size
        )
