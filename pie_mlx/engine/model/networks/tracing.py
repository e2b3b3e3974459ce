"""Finds out, without computing anything, what a model stores per layer and how it can be put on the pool."""

from collections.abc import Callable, Sequence
from typing import Any

import mlx.core as mx

from pie_mlx.engine.model.mlx_lm.caches import UNBOUND, CacheSet, PagedCache, WindowMask, handles, latent_queries
from pie_mlx.engine.model.mlx_lm.modules import Module
from pie_mlx.engine.model.networks.tier import Layout, Tier
from pie_mlx.errors import ModelLoadError
from pie_mlx.metal import LayerShape


class TraceBinding:
    """Records the shapes of K and V; returns handles, or arrays of zeros for a dense tier."""

    def __init__(self, offset: mx.array | int, rows: int, tier: Tier) -> None:
        self.offset = offset
        self.shapes: dict[int, LayerShape] = {}
        self._rows, self._tier = rows, tier
        self._stored: dict[int, tuple[Any, Any]] = {}

    def update(self, cache: PagedCache, keys: mx.array, values: mx.array) -> tuple[Any, Any]:
        if cache.layer in self.shapes:
            raise ModelLoadError("model: a layer stores its keys twice in one pass")
        latent = self._tier.latent
        self.shapes[cache.layer] = LayerShape(keys.shape[1], keys.shape[3], values.shape[3], latent)
        self._stored[cache.layer] = handles(cache, keys, values, latent=latent) if self._tier.paged else (keys, values)
        return self._stored[cache.layer]

    def fetch(self, cache: PagedCache) -> tuple[Any, Any]:
        return self._stored[cache.layer]

    def mask(self, tokens: int, window: int | None, return_array: bool) -> Any:
        if self._tier.paged:
            return None if self._tier.latent else WindowMask(window, (tokens, tokens))
        rows = () if self._rows == 1 else (self._rows, 1)
        return mx.ones((*rows, tokens, tokens), mx.bool_)

    def attend(
        self,
        cache: PagedCache,
        queries: mx.array,
        mask: Any,
        scale: float,
        sinks: mx.array | None = None,
        cap: float = 0.0,
    ) -> mx.array:
        if self._tier.latent:
            latent_queries(queries, mask, scale)
        return mx.zeros((*queries.shape[:-1], self.shapes[cache.layer].output_dim), queries.dtype)


def trace(
    model: Module, caches: CacheSet, tier: Tier, built: Callable[[], None] = lambda: None
) -> tuple[dict[int, LayerShape], tuple[int, ...]]:
    """Shapes of each layer's K and V, and of the output for 2 rows (1 where the tier computes one context at a time).

    Builds the graph of one forward pass and drops it; calls `built` while recurrent caches hold its states. Raises
    whatever the model raises on a tier it cannot work with.
    """
    rows, tokens = (1, 2) if tier.layout is Layout.ALONE else (2, 1 if tier.layout is Layout.TOKENS else 2)
    offset: mx.array | int = 0 if tier.layout is Layout.ALONE else mx.zeros(rows, mx.int32)
    binding = TraceBinding(offset, rows, tier)
    caches.bind(binding)
    try:
        output = model(mx.zeros((rows, tokens), mx.int32), cache=caches.tree)
        built()
    finally:
        caches.bind(UNBOUND)
        for cache in caches.recurrent:
            cache.cache = [None] * len(cache.cache)
    return binding.shapes, output.shape


def first_working(
    tiers: Sequence[Tier], attempt: Callable[[Tier], tuple[dict[int, LayerShape], tuple[int, ...]]], architecture: str
) -> tuple[Tier, dict[int, LayerShape], tuple[int, ...]]:
    """The first tier the model can be traced on. Raises ModelLoadError with the reason of each that fails."""
    reasons: list[str] = []
    for tier in tiers:
        try:
            shapes, output = attempt(tier)
        except Exception as error:  # a model's own code may raise anything on a cache it was not written for
            reasons.append(f"{tier.name}: {type(error).__name__}: {error}")
        else:
            return tier, shapes, output
    raise ModelLoadError(
        f"model: the architecture {architecture} cannot be paged ({'; '.join(reasons)})",
        hint="choose a model of a supported architecture (docs/reference/architectures.md)",
    )
