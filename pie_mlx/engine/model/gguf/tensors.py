"""Which tensor of a GGUF file is which parameter of mlx-lm's model, and in which order its rows are."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from pie_mlx.engine.model.gguf.blocks import Array
from pie_mlx.engine.model.gguf.header import GgufModel, Tensor

_INTERLEAVED = {"llama", "granite", "smollm3"}
"""Architectures whose rows of queries and keys llama.cpp stores pairwise, for another form of rotation."""
_ADDS_ONE = {"gemma", "gemma2", "gemma3"}
"""Architectures whose norms are stored with the 1 that mlx-lm adds."""
_USED_ELSEWHERE = {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"}


def tensors_by_parameter(model: GgufModel, parameters: Mapping[str, tuple[int, ...]], layers: int) -> dict[str, Tensor]:
    """The tensor of each parameter, by its path. Raises ModelLoadError unless each has one and none is left."""
    named = _names(model.architecture, parameters, layers)
    if missing := sorted(set(named.values()) - model.tensors.keys()):
        raise model.refused(f"it lacks {len(missing)} tensors, {missing[0]} first")
    if unknown := sorted(model.tensors.keys() - set(named.values()) - _USED_ELSEWHERE):
        raise model.refused(
            f"{len(unknown)} of its tensors are none of a {model.architecture}, {unknown[0]!r:.80} first",
            "fetch the same model as MLX weights",
        )
    found = {parameter: model.tensors[name] for parameter, name in named.items()}
    for parameter, tensor in found.items():
        if int(np.prod(parameters[parameter])) != int(np.prod(tensor.shape)):
            shapes = f"{list(tensor.shape)}, not {list(parameters[parameter])}"
            raise model.refused(f"its tensor {tensor.name} is {shapes}")
    return found


def _names(architecture: str, parameters: Iterable[str], layers: int) -> dict[str, str]:
    from gguf.constants import MODEL_ARCH_NAMES
    from gguf.tensor_mapping import get_tensor_name_map

    kind = next(kind for kind, name in MODEL_ARCH_NAMES.items() if name == architecture)
    names = get_tensor_name_map(kind, layers)
    found: dict[str, str] = {}
    for parameter in parameters:
        original = parameter.replace(".mlp.switch_mlp.", ".mlp.experts.")
        name = names.get_name(original, try_suffixes=(".weight", ".bias"))
        if name is None:
            raise AssertionError(f"{architecture} has no tensor for {parameter}")
        found[parameter] = name if name.endswith((".weight", ".bias")) else f"{name}.weight"  # of attention sinks
    return found


def row_order(architecture: str, parameter: str, config: Mapping[str, Any]) -> Array | None:
    """Where mlx-lm's rows of a matrix or bias are in the file, None where they are in order."""
    projection = parameter.split(".")[-2]
    if architecture not in _INTERLEAVED or projection not in ("q_proj", "k_proj"):
        return None
    heads = config["num_attention_heads" if projection == "q_proj" else "num_key_value_heads"]
    places: Array = np.arange(int(heads * config["head_dim"]))
    return places.reshape(heads, -1, 2).swapaxes(1, 2).reshape(-1)


def offset_of(architecture: str, parameter: str) -> int:
    """What is stored more than mlx-lm wants."""
    return 1 if architecture in _ADDS_ONE and parameter.endswith("norm.weight") else 0
