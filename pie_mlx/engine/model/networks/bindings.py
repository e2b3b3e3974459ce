"""The three ways a forward pass uses the page pool."""

from collections.abc import Sequence
from typing import Any

import mlx.core as mx

from pie_mlx.engine.model.memory import Segments
from pie_mlx.engine.model.mlx_lm.caches import Handle, PagedCache, WindowMask, handles
from pie_mlx.errors import ModelLoadError
from pie_mlx.metal import AttentionPlan, DenseView, KvPool, Run, SlotWrite, attend


def _token_rows(array: mx.array) -> mx.array:
    """[rows, heads, tokens, dim] as [rows * tokens, heads, dim]."""
    return array.swapaxes(1, 2).flatten(0, 1)


class PagedBinding:
    """K and V stay in the pool: models see handles, attention reads the pages. Rows of equal length.

    In a `latent` model, which attends to one latent with all heads, rows are single tokens.
    """

    def __init__(self, offset: mx.array, plan: AttentionPlan, segments: Segments, *, latent: bool) -> None:
        self.offset, self._latent = offset, latent
        self._plan, self._segments = plan, segments
        self._handles: dict[int, tuple[Handle, Handle]] = {}

    def update(self, cache: PagedCache, keys: mx.array, values: mx.array) -> tuple[Any, Any]:
        # Single tokens, the rows of most passes, need no call: this is done once for every layer of every step.
        rows = (keys.squeeze(2), values.squeeze(2)) if keys.shape[2] == 1 else (_token_rows(keys), _token_rows(values))
        self._plan.store(cache.layer, *rows)
        self._segments.stored(keys)
        self._handles[cache.layer] = handles(cache, keys, values, latent=self._latent)
        return self._handles[cache.layer]

    def fetch(self, cache: PagedCache) -> tuple[Any, Any]:
        return self._handles[cache.layer]

    def mask(self, tokens: int, window: int | None, return_array: bool) -> Any:
        return None if self._latent else WindowMask(window, (tokens, tokens))

    def attend(
        self,
        cache: PagedCache,
        queries: mx.array,
        mask: Any,
        scale: float,
        sinks: mx.array | None = None,
        cap: float = 0.0,
    ) -> mx.array:
        if self._latent:
            queries, mask, scale = latent_queries(queries, mask, scale), None, 1.0
        rows, _, tokens, _ = queries.shape
        given = queries.squeeze(2) if tokens == 1 else _token_rows(queries)
        out = attend(given, cache.layer, self._plan, scale=scale, window=window_of(mask, cache), sinks=sinks, cap=cap)
        return mx.expand_dims(out, 2) if tokens == 1 else mx.unflatten(out, 0, (rows, tokens)).swapaxes(1, 2)


class DenseBinding:
    """For models that compute with K and V themselves: they see the pages gathered, and a real mask."""

    def __init__(
        self,
        offset: mx.array | int,
        runs: Sequence[Run],
        slots: Sequence[int],
        pool: KvPool,
        segments: Segments,
    ) -> None:
        self.offset = offset
        self._pool, self._write, self._segments = pool, SlotWrite(slots), segments
        pool.begin_write(self._write)
        self._view = DenseView(runs, pool)
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
        return mask[:, None]

    def attend(
        self,
        cache: PagedCache,
        queries: mx.array,
        mask: Any,
        scale: float,
        sinks: mx.array | None = None,
        cap: float = 0.0,
    ) -> mx.array:
        raise RuntimeError("the dense tier hands out no handles")


def latent_queries(queries: mx.array, mask: Any, scale: float) -> mx.array:
    """Queries of both parts of a latent layer's keys, scaled. Of a RopeHandle a model makes the second part, and passes
    it on as its mask."""
    if not isinstance(mask, mx.array) or mask.shape[:3] != queries.shape[:3]:
        raise ModelLoadError("model: it does not pass the scores of rotated queries on as a mask")
    return mx.concatenate([queries * scale, mask.astype(queries.dtype)], axis=-1)


def window_of(mask: Any, cache: PagedCache) -> int | None:
    """The window of a mask that went through the model, or the layer's own where the model passes none."""
    if mask is None or (isinstance(mask, str) and mask == "causal"):
        return cache.window
    if isinstance(mask, WindowMask):
        return mask.window
    raise ModelLoadError("model: it computes its own attention mask")
