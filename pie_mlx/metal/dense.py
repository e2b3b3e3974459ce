"""The pages of some runs as plain arrays, for models that compute with K and V directly."""

from collections.abc import Sequence

import mlx.core as mx
import numpy as np

from pie_mlx.metal.arrays import from_host, integers
from pie_mlx.metal.page_pool.pool import KvPool
from pie_mlx.metal.runs import Run, visible


class DenseView:
    """Runs of equal `count`, padded to the longest. A window does not change the keys.

    A single run is exact: it has as many keys as slots. `arrays` returns [runs, kv_heads, keys, head_dim].
    """

    def __init__(self, runs: Sequence[Run], pool: KvPool) -> None:
        self._runs, self._pool = runs, pool
        counts = [-(-run.kv_length // pool.page_size) for run in runs]
        pages = np.empty((len(runs), max(counts)), np.int32)
        for row, (run, count) in enumerate(zip(runs, counts, strict=True)):
            pages[row, :count] = run.block_table[:count]
            # Padding repeats a page of the run: content of other runs must not reach it, not even multiplied by zero.
            pages[row, count:] = run.block_table[count - 1]
        self._pages = integers(pages)
        self.keys = runs[0].kv_length if len(runs) == 1 else max(counts) * pool.page_size

    def arrays(self, layer: int) -> tuple[mx.array, mx.array]:
        """K and V of the runs."""
        keys, values = self._pool.gather(layer, self._pages)
        return keys[:, :, : self.keys], values[:, :, : self.keys]

    def mask(self, window: int | None) -> mx.array | None:
        """What each token sees, bool [runs, tokens, keys]; None if everything."""
        seen = np.stack([visible(run, window, 0, self.keys) for run in self._runs])
        return None if seen.all() else from_host(seen)
