"""Architectures whose code needs a word to work on pages. On mlx-lm's own caches they compute what they did before."""

from collections.abc import Callable, Mapping
from typing import Any

import mlx.core as mx

from pie_mlx.engine.model.mlx_lm.caches import UNBOUND, CacheSet, PagedCache
from pie_mlx.engine.model.mlx_lm.modules import Module, replace_call

Call = Callable[..., Any]


def adapt(architecture: str, model: Module, caches: CacheSet) -> None:
    """Change what modules of `model` do while `caches` are bound to a forward pass."""
    if architecture in _ADAPTATIONS:
        _ADAPTATIONS[architecture](model, caches)


def _pad_first_tokens(model: Any, _: CacheSet) -> None:
    """n-grams of a context that is shorter than they are: missing tokens count as 0, so that all states are alike."""

    def padded(_: Module, call: Call) -> Call:
        def embedded(embedding: Any, tokens: mx.array, cache: Any = None) -> Any:
            if cache is not None and cache[0] is None:
                cache[0] = mx.zeros((tokens.shape[0], embedding.n - 1), mx.int64)
            return call(embedding, tokens, cache)

        return embedded

    replace_call(model.model.ngram_embeddings, padded)


def _count_from_own_offset(model: Any, caches: CacheSet) -> None:
    """Learned positions: the model counts from the offset of its first cache, a plain number."""
    first = caches.paged[0]
    first.__class__ = _FromZero

    def shifted(_: Module, call: Call) -> Call:
        def embedded(embedding: Any, positions: mx.array) -> Any:
            if first.binding is UNBOUND:
                return call(embedding, positions)
            offset = first.binding.offset
            return call(embedding, positions + (offset[:, None] if isinstance(offset, mx.array) else offset))

        return embedded

    replace_call(model.transformer.wpe, shifted)


def _rotate_from_offset(model: Any, caches: CacheSet) -> None:
    """Layers that reuse the keys of others, and tell their position by how many these are."""
    last = caches.paged[-1]

    def rotated(_: Module, call: Call) -> Call:
        def turned(rope: Any, queries: mx.array, offset: Any = 0) -> Any:
            return call(rope, queries, offset=offset if last.binding is UNBOUND else last.offset)

        return turned

    for layer in model.model.kv_reuse_layers:
        replace_call(layer.self_attn.rope, rotated)


def _pass_positions_as_rows(model: Any, _: CacheSet) -> None:
    """Recurrent layers that rotate by position: it is passed to them like a token, so that it stays with its row."""

    def outer(_: Module, call: Call) -> Call:
        def layer(module: Any, x: mx.array, mask: Any = None, cache: Any = None, offset: Any = 0) -> Any:
            return call(module, x, mask, cache, offset=offset[:, None] if isinstance(offset, mx.array) else offset)

        return layer

    def inner(_: Module, call: Call) -> Call:
        def attention(module: Any, x: mx.array, mask: Any = None, cache: Any = None, offset: Any = 0) -> Any:
            return call(module, x, mask, cache, offset=offset[:, 0] if isinstance(offset, mx.array) else offset)

        return attention

    for layer in model.layers:
        if not layer.is_global:
            replace_call(layer, outer)
            replace_call(layer.attention, inner)


def _cap_on_pages(model: Any, _: CacheSet) -> None:
    """Attention that bounds its scores, and therefore multiplies with the keys itself."""

    def capped(_: Module, call: Call) -> Call:
        def attention(layer: Any, x: mx.array, mask: Any = None, cache: Any = None) -> Any:
            if not isinstance(cache, PagedCache):
                return call(layer, x, mask, cache)
            queries, keys, values = (
                mx.unflatten(project(x), -1, (heads, -1)).swapaxes(1, 2)
                for project, heads in (
                    (layer.q_proj, layer.n_heads),
                    (layer.k_proj, layer.n_kv_heads),
                    (layer.v_proj, layer.n_kv_heads),
                )
            )
            queries, keys = (layer.rope(part, offset=cache.offset) for part in (queries, keys))
            cache.update_and_fetch(keys, values)
            out = cache.binding.attend(cache, queries, mask, layer.scale, cap=layer.attn_logit_softcapping)
            return layer.o_proj(out.swapaxes(1, 2).flatten(2))

        return attention

    for layer in model.layers:
        replace_call(layer.self_attn, capped)


class _FromZero(PagedCache):
    """A cache whose offset is always 0 for the model."""

    tells_offset = False


_ADAPTATIONS: Mapping[str, Callable[[Any, CacheSet], None]] = {
    "afm7": _rotate_from_offset,
    "bailing_hybrid": _pass_positions_as_rows,
    "bailing_moe_linear": _pass_positions_as_rows,
    "gemma2": _cap_on_pages,
    "gpt_bigcode": _count_from_own_offset,
    "longcat_flash_ngram": _pad_first_tokens,
}
