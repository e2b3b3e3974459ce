"""The three ways a forward pass uses the page pool."""

from collections.abc import Sequence
from typing import Any

import mlx.core as mx

from pie_mlx.engine.model.memory import Segments
from pie_mlx.engine.model.mlx_lm.caches import Handle, PagedCache, WindowMask
from pie_mlx.errors import ModelLoadError
from pie_mlx.metal import AttentionPlan, DenseView, KvPool, Run, SlotWrite, attend


def _token_rows(array: mx.array) -> mx.array:
    """[rows, heads, tokens, dim] as [rows * tokens, heads, dim]."""
    return mx.squeeze(array, 2) if array.shape[2] == 1 else array.swapaxes(1, 2).flatten(0, 1)


class PagedBinding:
    """K and V stay in the pool: models see handles, attention reads the pages. Rows of equal length."""

    def __init__(self, offset: mx.array, plan: AttentionPlan, segments: Segments) -> None:
        self.offset = offset
        self._plan, self._segments = plan, segments
        self._handles: dict[int, tuple[Handle, Handle]] = {}

    def update(self, cache: PagedCache, keys: mx.array, values: mx.array) -> tuple[Any, Any]:
        if keys.shape[2] == 1:
            self._plan.store(cache.layer, mx.squeeze(keys, 2), mx.squeeze(values, 2))
        else:
            self._plan.store(cache.layer, _token_rows(keys), _token_rows(values))
        self._segments.stored(keys)
        handles = Handle(cache, True, keys.shape, keys.dtype), Handle(cache, False, values.shape, values.dtype)
        self._handles[cache.layer] = handles
        return handles

    def fetch(self, cache: PagedCache) -> tuple[Any, Any]:
        return self._handles[cache.layer]

    def mask(self, tokens: int, window: int | None, return_array: bool) -> Any:
        return WindowMask(window, (tokens, tokens))

    def attend(self, cache: PagedCache, queries: mx.array, mask: Any, scale: float, sinks: mx.array | None) -> mx.array:
        rows, _, tokens, _ = queries.shape
        window = window_of(mask, cache)
        if tokens == 1:
            out = attend(mx.squeeze(queries, 2), cache.layer, self._plan, scale=scale, window=window, sinks=sinks)
            return mx.expand_dims(out, 2)
        out = attend(_token_rows(queries), cache.layer, self._plan, scale=scale, window=window, sinks=sinks)
        return mx.unflatten(out, 0, (rows, tokens)).swapaxes(1, 2)


class DenseBinding:
    """For models that compute with K and V themselves: they see the pages gathered, and a real mask."""

    def __init__(
        self,
        offset: mx.array | int,
        runs: Sequence[Run],
        slots: Sequence[int],
        pool: KvPool,
        mask_dimensions: int,
        segments: Segments,
    ) -> None:
        self.offset = offset
        self._pool, self._write, self._segments = pool, SlotWrite(slots), segments
        pool.begin_write(self._write)
        self._view = DenseView(runs, pool)
        self._dimensions = mask_dimensions
        self._masks: dict[int | None, mx.array | None] = {}

    def update(self, cache: PagedCache, keys: mx.array, values: mx.array) -> tuple[Any, Any]:
        self._pool.write(cache.layer, _token_rows(keys), _token_rows(values), self._write)
        self._segments.stored(keys)
        return self.fetch(cache)

    def fetch(self, cache: PagedCache) -> tuple[Any, Any]:
        return self._view.arrays(cache.layer)

    def mask(self, tokens: int, window: int | None, return_array: bool) -> Any:
        if window not in self._masks:
            self._masks[window] = self._view.mask(window)
        mask = self._masks[window]
        if mask is None:
            return mx.ones((tokens, self._view.keys), mx.bool_) if return_array else None
        if mask.shape[0] == 1:
            return mask[0]
        return mx.unflatten(mask, 0, (-1, *[1] * (self._dimensions - 3)))

    def attend(self, cache: PagedCache, queries: mx.array, mask: Any, scale: float, sinks: mx.array | None) -> mx.array:
        raise RuntimeError("the dense tier hands out no handles")


def window_of(mask: Any, cache: PagedCache) -> int | None:
    """The window of a mask that went through the model, or the layer's own where the model passes none."""
    if mask is None or (isinstance(mask, str) and mask == "causal"):
        return cache.window
    if isinstance(mask, WindowMask):
        return mask.window
    raise ModelLoadError("model: it computes its own attention mask")
