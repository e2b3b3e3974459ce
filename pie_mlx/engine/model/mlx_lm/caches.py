"""Stand-ins for mlx-lm's caches: a layer's K and V go to the page pool, its attention comes back from there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import mlx.core as mx

from pie_mlx.engine.model.mlx_lm.library import cache as mlx_lm_cache
from pie_mlx.errors import ModelLoadError


class Binding(Protocol):
    """What the caches of one forward pass do: where its tokens are, and what becomes of their K and V."""

    @property
    def offset(self) -> mx.array | int: ...
    def update(self, cache: "PagedCache", keys: mx.array, values: mx.array) -> tuple[Any, Any]: ...
    def fetch(self, cache: "PagedCache") -> tuple[Any, Any]: ...
    def mask(self, tokens: int, window: int | None, return_array: bool) -> Any: ...
    def attend(
        self, cache: "PagedCache", queries: mx.array, mask: Any, scale: float, sinks: mx.array | None
    ) -> mx.array: ...


@dataclass(frozen=True, slots=True)
class Handle:
    """K or V of one layer, in the pool. Models may pass it on and look at its shape, nothing else."""

    cache: "PagedCache"
    is_key: bool
    shape: tuple[int, ...]
    dtype: mx.Dtype


@dataclass(frozen=True, slots=True)
class WindowMask:
    """A mask a model asked for and only passes on: causal, and no more than `window` slots back if there is one."""

    window: int | None
    shape: tuple[int, ...]

    def __getitem__(self, _: Any) -> "WindowMask":
        return self


class Unbound:
    """The binding of a cache outside a forward pass."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("a paged cache is used outside a forward pass")


UNBOUND = cast("Binding", Unbound())


class PagedCache:
    """The cache of one attention layer, bound to one forward pass at a time."""

    def __init__(self, layer: int, window: int | None) -> None:
        self.layer, self.window = layer, window
        self.binding = UNBOUND
        # Some models clear the half of a cache they do not use; what is kept is in the pool.
        self.keys = self.values = mx.zeros(())

    @property
    def offset(self) -> mx.array | int:
        """Position of each row's first token."""
        return self.binding.offset

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[Any, Any]:
        """Store K and V [rows, kv_heads, tokens, head_dim]; what the model attends to."""
        return self.binding.update(self, keys, values)

    def keys_and_values(self) -> tuple[Any, Any]:
        """What `update_and_fetch` answered, for layers that attend to another layer's K and V."""
        return self.binding.fetch(self)

    def make_mask(self, tokens: int, return_array: bool = False, window_size: int | None = None) -> Any:
        """The mask of `tokens` per row; a window asked for wins over the layer's own."""
        return self.binding.mask(tokens, window_size or self.window, return_array)


@dataclass(frozen=True, slots=True)
class CacheSet:
    """Caches in the form mlx-lm wants them, and the leaves in order."""

    tree: list[Any]
    paged: list[PagedCache]
    recurrent: list[Any]

    def bind(self, binding: Binding) -> None:
        """Point every attention layer at one forward pass; UNBOUND lets go of the last one's arrays."""
        for cache in self.paged:
            cache.binding = binding


def paged_caches(originals: Sequence[Any]) -> CacheSet:
    """Caches in the place of mlx-lm's own. Raises ModelLoadError for a kind there is no counterpart of."""
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
