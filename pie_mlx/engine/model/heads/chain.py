"""Guesses one after the other, none of which goes to the pages: a chain reads these once and keeps its own keys."""

from collections.abc import Sequence
from typing import Any

import mlx.core as mx
import numpy as np

from pie_mlx.engine.model.mlx_lm.caches import PagedCache
from pie_mlx.metal import KvPool
from pie_mlx.metal.arrays import from_host, integers


class ChainBinding:
    """The binding of steps of one token per context, after the first `lengths` tokens of each in the pages of `tables`.

    The rows of a step are computed while those before are lazy: it reads no page that they would have to write.
    """

    def __init__(self, pool: KvPool, tables: Sequence[Sequence[int]], lengths: Sequence[int]) -> None:
        size = pool.page_size
        used = [table[: -(-length // size)] for table, length in zip(tables, lengths, strict=True)]
        most = max(map(len, used))
        # Padding repeats a page of the same context: another's content must not reach it.
        self._pool, self._pages = pool, integers([[*pages, *[pages[-1]] * (most - len(pages))] for pages in used])
        self._width = lengths[0] if len(lengths) == 1 else most * size
        self._seen = None if len(lengths) == 1 else np.arange(self._width) < np.asarray(lengths)[:, None]
        self._own = 0
        self._kept: dict[int, tuple[mx.array, mx.array]] = {}
        self.offset = mx.zeros(len(lengths), mx.int32)

    def begin(self, positions: Sequence[int]) -> None:
        """The next step, of tokens at these positions."""
        self.offset = integers(positions)
        self._own += 1

    def update(self, cache: PagedCache, keys: mx.array, values: mx.array) -> tuple[Any, Any]:
        """All keys and values [rows, kv_heads, tokens, dim] of a layer, those of the step at the end."""
        known = self._kept.get(cache.layer) or self._read(cache.layer)
        pairs = zip(known, (keys, values), strict=True)
        first, second = (mx.concatenate([before, new.astype(before.dtype)], axis=2) for before, new in pairs)
        self._kept[cache.layer] = first, second
        return first, second

    def fetch(self, cache: PagedCache) -> tuple[Any, Any]:
        """What `update` answered."""
        return self._kept[cache.layer]

    def mask(self, tokens: int, window: int | None, return_array: bool) -> Any:
        """Which keys each row sees, bool [rows, 1, 1, keys]; None for all of them."""
        del tokens, window, return_array
        if self._seen is None:
            return None
        own = np.ones((len(self._seen), self._own), np.bool_)
        return from_host(np.concatenate([self._seen, own], axis=1)[:, None, None])

    def attend(
        self,
        cache: PagedCache,
        queries: mx.array,
        mask: Any,
        scale: float,
        sinks: mx.array | None = None,
        cap: float = 0.0,
    ) -> mx.array:
        """Never called: the model attends itself."""
        raise RuntimeError("a chain hands out no handles")

    def _read(self, layer: int) -> tuple[mx.array, mx.array]:
        keys, values = self._pool.gather(layer, self._pages)
        return keys[:, :, : self._width], values[:, :, : self._width]
