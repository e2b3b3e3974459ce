"""Changes to mlx-lm's model classes: attention goes to pages, heads project only rows whose logits are needed."""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, cast

import mlx.core as mx

from pie_mlx.engine.model.mlx_lm.caches import Handle, LatentHandle
from pie_mlx.engine.model.mlx_lm.library import base, models
from pie_mlx.engine.model.mlx_lm.modules import LINEAR, Module
from pie_mlx.errors import ModelLoadError

_NAME = "scaled_dot_product_attention"
_ORIGINAL = cast("Callable[..., mx.array]", getattr(base, _NAME))
_FAST = ("mlx_lm.models.plamo2",)
"""Modules that call MLX's attention themselves."""


def install() -> None:
    """Routes attention over handles to the pages in every loaded model module. Call it again after importing one."""
    # Modules import the function by name: change each of them, except those with a function of their own.
    for module in list(vars(models).values()):
        if isinstance(module, ModuleType) and vars(module).get(_NAME) is _ORIGINAL:
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


class RowSelection:
    """The rows of the current forward pass whose logits are needed: flat indices over [rows, tokens].

    `hidden` [selected, 1, width] is the head's latest input for them, `kept` [kept_rows, width] that for `kept_rows`.
    """

    def __init__(self) -> None:
        self.rows: mx.array | None = None
        self.hidden: mx.array | None = None
        self.kept_rows: mx.array | None = None
        self.kept: mx.array | None = None

    @property
    def width(self) -> int:
        """The width of the head's latest input, 0 before the first."""
        return 0 if self.hidden is None else int(self.hidden.shape[-1])

    def select(self, hidden: mx.array) -> mx.array:
        """[rows, tokens, width] as [selected, 1, width]."""
        if self.rows is None:
            return hidden
        if self.kept_rows is not None:
            self.kept = hidden.flatten(0, 1)[self.kept_rows]
        self.hidden = hidden.flatten(0, 1)[self.rows][:, None]
        return self.hidden


def select_before_head(model: Module, vocabulary_size: int, selection: RowSelection) -> list[Module]:
    """Makes the modules that may be the output head select rows first. Returns them, for `restore`.

    A head is a projection to the vocabulary outside the layers, or an embedding used as one. Its class is replaced by a
    subclass, so that parameter names stay the same.
    """
    heads: list[Module] = []
    for path, module in model.named_modules():
        if any(part.isdigit() for part in path.split(".")):
            continue
        if hasattr(module, "as_linear"):
            _override(module, "as_linear", selection)
        elif path and _output_size(module) == vocabulary_size:
            _override(module, "__call__", selection)
        else:
            continue
        heads.append(module)
    return heads


def restore(heads: list[Module]) -> None:
    """Reverses `select_before_head`."""
    for module in heads:
        module.__class__ = type(module).__mro__[1]


def _output_size(module: Any) -> int | None:
    if not isinstance(module, LINEAR):
        return None
    return int(module.weight.shape[0])


def _override(module: Module, method: str, selection: RowSelection) -> None:
    original = type(module)
    project = getattr(original, method)

    def selected(self: Module, hidden: mx.array) -> mx.array:
        return project(self, selection.select(hidden))

    module.__class__ = type(original.__name__, (original,), {method: selected})
