"""Routes the attention of mlx-lm's model classes to pages, without changes to the classes."""

import sys
from collections.abc import Callable
from typing import Any, cast

import mlx.core as mx

from pie_mlx.engine.model.mlx_lm.caches import Handle, LatentHandle
from pie_mlx.engine.model.mlx_lm.library import base
from pie_mlx.errors import ModelLoadError

_NAME = "scaled_dot_product_attention"
_ORIGINAL = cast("Callable[..., mx.array]", getattr(base, _NAME))
_FAST = ("mlx_lm.models.plamo2",)
"""Modules that call MLX's attention themselves."""


def install() -> None:
    """Routes attention over handles to the pages in every loaded model module. Call it again after importing one."""
    # Modules import the function by name: change each of them, except those with a function of their own.
    for name, module in list(sys.modules.items()):
        if name.startswith("mlx_lm.models.") and vars(module).get(_NAME) is _ORIGINAL:
            setattr(module, _NAME, _attention)
    for name in _FAST:
        if name in sys.modules:
            vars(sys.modules[name])["mx"] = _Changed(mx, fast=_Changed(mx.fast, **{_NAME: _fast_attention}))


def _attention(
    queries: mx.array,
    keys: Any,
    values: Any,
    cache: Any,
    scale: float,
    mask: Any,
    sinks: mx.array | None = None,
) -> mx.array:
    # The type of the keys decides, not the cache: some layers attend to another layer's keys.
    if not isinstance(keys, Handle):
        return _ORIGINAL(queries, keys, values, cache, scale, mask, sinks)
    if isinstance(keys, LatentHandle):
        together = values is keys
    else:
        together = isinstance(values, Handle) and keys.is_key and values.cache is keys.cache and not values.is_key
    if not together:
        raise ModelLoadError("model: a layer attends to values other than those stored with its keys")
    return keys.cache.binding.attend(keys.cache, queries, mask, scale, sinks)


def _fast_attention(queries: mx.array, keys: Any, values: Any, **options: Any) -> mx.array:
    if isinstance(keys, Handle):
        return _attention(queries, keys, values, None, **options)
    return mx.fast.scaled_dot_product_attention(queries, keys, values, **options)


class _Changed:
    """A module with other functions for some of its own."""

    def __init__(self, module: Any, **changed: Any) -> None:
        self._module = module
        vars(self).update(changed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)
