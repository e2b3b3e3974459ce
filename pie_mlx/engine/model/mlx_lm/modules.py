"""Typed doors to mlx.nn and mlx-lm, which carry no types."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, cast

import mlx.core as mx
from mlx import nn, utils  # pyright: ignore[reportMissingTypeStubs, reportAttributeAccessIssue]

from pie_mlx.engine.model.mlx_lm.library import cache, switch_layers
from pie_mlx.engine.model.mlx_lm.library import utils as mlx_lm_utils

_nn, _utils, _mlx_lm = cast("Any", nn), cast("Any", utils), cast("Any", mlx_lm_utils)
_switch = cast("Any", switch_layers)

neural = cast("Any", nn)
"""mlx.nn."""

LINEAR: tuple[type, ...] = (_nn.Linear, _nn.QuantizedLinear)
"""Projections."""

SWITCH: tuple[type, ...] = (_switch.SwitchLinear, _switch.QuantizedSwitchLinear)
"""Projections of experts; each token goes through one."""

load_config = cast("Callable[..., dict[str, Any]]", _mlx_lm.load_config)
"""Reads config.json of a directory, with the end-of-sequence ids of generation_config.json."""

load_weights = cast("Callable[..., tuple[Module, dict[str, Any]]]", _mlx_lm.load_model)
"""Loads the network of a directory. Returns it with its configuration."""

dequantise = cast("Callable[[Module], Module]", _mlx_lm.dequantize_model)
"""Expands quantised layers in place."""

renamed_architectures = cast("dict[str, str]", _mlx_lm.MODEL_REMAPPING)
"""Model types that the module of another architecture implements."""

make_prompt_cache = cast("Callable[..., list[Any]]", cache.make_prompt_cache)
"""mlx-lm's own caches of a model, by layer."""


class Module(Protocol):
    """A model of mlx-lm or a part of one."""

    def __call__(self, *arguments: Any, **options: Any) -> mx.array: ...
    def named_modules(self) -> "list[tuple[str, Module]]": ...
    def parameters(self) -> dict[str, Any]: ...
    def update(self, parameters: dict[str, Any]) -> Any: ...


def empty_network(config: Mapping[str, Any]) -> Module:
    """A network whose parameters are not computed. Raises what mlx-lm raises for settings that do not fit."""
    model = model_of(config)
    if hasattr(model, "sanitize"):  # a head that the embedding also is may go
        model.sanitize({} if config["tie_word_embeddings"] else {"lm_head.weight": None})
    return model


def model_of(config: Mapping[str, Any]) -> Any:
    """A network with random parameters that are not computed. Raises what mlx-lm raises for settings that do not
    fit."""
    model_class, arguments = _mlx_lm._get_classes(config=dict(config))
    return model_class(arguments.from_dict(dict(config)))


def headless_options() -> dict[str, Any]:
    """Options of `load_weights` for files that hold a model without its language head, as embedding models often are
    saved. Their logits mean nothing."""

    def classes(config: Mapping[str, Any]) -> tuple[type, Any]:
        model_class, arguments = _mlx_lm._get_classes(config=dict(config))

        def sanitize(model: Any, weights: dict[str, mx.array]) -> dict[str, mx.array]:
            named = {f"model.{name}": array for name, array in weights.items()}
            return model_class.sanitize(model, named) if hasattr(model_class, "sanitize") else named

        return type(model_class.__name__, (model_class,), {"sanitize": sanitize}), arguments

    return {"get_model_classes": classes, "model_config": {"tie_word_embeddings": True}}


def replace_call(module: Module, replace: Callable[[Module, Callable[..., Any]], Callable[..., Any]]) -> None:
    """From now on, calling the module calls what `replace(module, call)` gives; both take the module first, and `call`
    is the module's own. Its class changes, so that the tree of parameters keeps its names."""
    original = type(module)
    call = replace(module, cast("Any", original).__call__)
    cast("Any", module).__class__ = type(original.__name__, (original,), {"__call__": call})


@contextmanager
def replaced_calls(
    modules: Sequence[Module], replace: Callable[[Module, Callable[..., Any]], Callable[..., Any]]
) -> Generator[None]:
    """Inside, the calls of `modules` are replaced (`replace_call`)."""
    originals = [type(module) for module in modules]
    try:
        for module in modules:
            replace_call(module, replace)
        yield
    finally:
        for module, original in zip(modules, originals, strict=True):
            cast("Any", module).__class__ = original


def parameters_of(module: Module) -> list[tuple[str, mx.array]]:
    """Every parameter with its path."""
    return cast("list[tuple[str, mx.array]]", _utils.tree_flatten(module.parameters()))


def convert_parameters(module: Module, convert: Callable[[mx.array], mx.array]) -> None:
    """Replaces every parameter with the result of `convert`."""
    module.update(_utils.tree_map(convert, module.parameters()))
