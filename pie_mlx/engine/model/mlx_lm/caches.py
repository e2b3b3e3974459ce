"""Paged caches, used instead of mlx-lm's: a layer's K and V go to the page pool, and attention reads them there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import mlx.core as mx

from pie_mlx.engine.model.mlx_lm.library import cache as mlx_lm_cache
from pie_mlx.errors import ModelLoadError


class Binding(Protocol):
    """How the caches of one forward pass behave: where its tokens are, and what happens to their K and V."""

    @property
    def offset(self) -> mx.array | int: ...
    def update(self, cache: "PagedCache", keys: mx.array, values: mx.array) -> tuple[Any, Any]: ...
    def fetch(self, cache: "PagedCache") -> tuple[Any, Any]: ...
    def mask(self, tokens: int, window: int | None, return_array: bool) -> Any: ...
    def attend(
        self,
        cache: "PagedCache",
        queries: mx.array,
        mask: Any,
        scale: float,
        sinks: mx.array | None = None,
        cap: float = 0.0,
    ) -> mx.array: ...


@dataclass(frozen=True, slots=True)
class Handle:
    """K or V of one layer, in the pool. Models may pass it on and read its shape and dtype, nothing else."""

    cache: "PagedCache"
    is_key: bool
    shape: tuple[int, ...]
    dtype: mx.Dtype

    def astype(self, dtype: mx.Dtype) -> "Handle":
        """The same pages: attention computes with what they hold, in float32 where it matters."""
        return replace(self, dtype=dtype)


@dataclass(frozen=True, slots=True)
class LatentHandle(Handle):
    """The latent of one layer, in the pool: what it attends to both as keys and as values."""


@dataclass(frozen=True, slots=True)
class RopeHandle(Handle):
    """The part of one layer's keys that positions rotate, in the pool.

    Models multiply queries with it themselves and pass the scores on as a mask. The product with its transpose gives
    the queries instead, which the attention multiplies with the pages.
    """

    def swapaxes(self, _first: int, _second: int) -> mx.array:
        """The identity."""
        return mx.eye(self.shape[-1], dtype=self.dtype)


def handles(cache: "PagedCache", keys: mx.array, values: mx.array, *, latent: bool) -> tuple[Handle, Handle]:
    """What a model gets for the keys and values that a layer stores."""
    first, second = (LatentHandle, RopeHandle) if latent else (Handle, Handle)
    return first(cache, True, keys.shape, keys.dtype), second(cache, False, values.shape, values.dtype)


@dataclass(frozen=True, slots=True)
class WindowMask:
    """A mask that a model requests and only passes on: causal, and within `window` slots if set."""

    window: int | None
    shape: tuple[int, ...]

    def __getitem__(self, _: Any) -> "WindowMask":
        return self


def latent_queries(queries: mx.array, mask: Any, scale: float) -> mx.array:
    """Queries of both parts of a latent layer's keys, scaled. Of a RopeHandle a model makes the second part, and passes
    it on as its mask."""
    if not isinstance(mask, mx.array) or mask.shape[:3] != queries.shape[:3]:
        raise ModelLoadError("model: it does not pass the scores of rotated queries on as a mask")
    return mx.concatenate([queries * scale, mask.astype(queries.dtype)], axis=-1)


class Unbound:
    """The binding of a cache outside a forward pass."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("a paged cache is used outside a forward pass")


UNBOUND = cast("Binding", Unbound())


class PagedCache:
    """The cache of one attention layer, bound to one forward pass at a time."""

    tells_offset = True
    """Whether models may see where a pass begins."""

    def __init__(self, layer: int, window: int | None) -> None:
        self.layer, self.window = layer, window
        self.binding = UNBOUND
        self.offset: mx.array | int = 0
        """Position of each row's first token in the pass; models read it often."""
        # Some models clear the half of a cache they do not use. The content is in the pool.
        self.keys = self.values = mx.zeros(())

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[Any, Any]:
        """Stores K and V [rows, kv_heads, tokens, head_dim]. Returns what the model attends to."""
        return self.binding.update(self, keys, values)

    def keys_and_values(self) -> tuple[Any, Any]:
        """What `update_and_fetch` returned, for layers that attend to another layer's K and V."""
        return self.binding.fetch(self)

    def make_mask(self, tokens: int, return_array: bool = False, window_size: int | None = None) -> Any:
        """The mask for `tokens` tokens per row. `window_size` overrides the layer's own window."""
        return self.binding.mask(tokens, window_size or self.window, return_array)


def window_of(mask: Any, cache: PagedCache) -> int | None:
    """The window of a mask that is no WindowMask: the layer's own where the model passes none."""
    if mask is None or (isinstance(mask, str) and mask == "causal"):
        return cache.window
    raise ModelLoadError("model: it computes its own attention mask")


@dataclass(frozen=True, slots=True)
class CacheSet:
    """Caches in the structure that mlx-lm expects, and the same caches in order."""

    tree: list[Any]
    paged: list[PagedCache]
    recurrent: list[Any]

    def bind(self, binding: Binding) -> None:
        """Binds every attention layer to one forward pass. UNBOUND releases the arrays of the last one."""
        offset = 0 if binding is UNBOUND else binding.offset
        for cache in self.paged:
            cache.binding = binding
            if cache.tells_offset:
                cache.offset = offset


def paged_caches(originals: Sequence[Any]) -> CacheSet:
    """Replaces mlx-lm's own caches. Raises ModelLoadError for a kind without a paged counterpart."""
    caches = CacheSet([], [], [])
    caches.tree.extend(_paged(original, caches) for original in originals)
    return caches


def _paged(original: Any, caches: CacheSet) -> Any:
    kind = _type_of(original)
    if kind is mlx_lm_cache.CacheList:
        return mlx_lm_cache.CacheList(*(_paged(inner, caches) for inner in original.caches))
    if kind is mlx_lm_cache.ArraysCache:
        caches.recurrent.append(original)
        return original
    window = _window(original)
    caches.paged.append(PagedCache(len(caches.paged), window))
    return caches.paged[-1]


def _type_of(value: object) -> type[object]:
    return type(value)


def _window(original: Any) -> int | None:
    kind = _type_of(original)
    if kind in (mlx_lm_cache.KVCache, mlx_lm_cache.ConcatenateKVCache):
        return None
    if kind is mlx_lm_cache.RotatingKVCache and original.keep == 0:
        return original.max_size
    raise ModelLoadError(
        f"model: a layer keeps its state in {kind.__name__}, which has no paged counterpart",
        hint="choose a model with plain, sliding-window or recurrent layers",
    )
