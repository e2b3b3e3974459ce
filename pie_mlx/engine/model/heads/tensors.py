"""The tensors of a draft head: found in the files of a model, under the names of a model that is the head alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import mlx.core as mx

from pie_mlx.engine.model.heads.families import HeadFamily
from pie_mlx.engine.model.tensor_header import claims_of
from pie_mlx.errors import ModelLoadError

BESIDE = "mtp.safetensors"
"""A file of a head alone, beside a model whose own files have lost theirs."""

_SUFFIXES = ("weight", "scales", "biases")


@dataclass(frozen=True)
class HeadTensors:
    """`layers` have the names of the family's own models, with the layers counted from 0; the other four parts have
    the names of parameters: weight, and scales and biases where they are quantised."""

    layers: dict[str, mx.array]
    embedding_norm: mx.array
    hidden_norm: mx.array
    projection: dict[str, mx.array]


def head_files(directory: Path, files: Sequence[Path]) -> list[Path]:
    """The files that may hold a head: the model's own, and the one beside them."""
    beside = directory / BESIDE
    return [*files, beside] if beside.is_file() else list(files)


def find_head(files: Sequence[Path], family: HeadFamily, layers: int) -> HeadTensors | None:
    """The head among `files`, read when it is used; None without one. Raises ModelLoadError for a part of one.

    `layers` is the number of the model's own layers.
    """
    prefix = family.prefix.format(layers=layers)
    found, is_raw = _named(files, prefix), _is_raw(files)
    if not found:
        return None
    if is_raw:
        found |= {name: array + 1.0 for name, array in found.items() if _is_less_one(name, family)}
    return _sorted(found, family)


def _is_less_one(name: str, family: HeadFamily) -> bool:
    in_layer = family.pattern.fullmatch(name)
    return name in family.less_one or (in_layer is not None and in_layer[2].endswith(family.layers_less_one or "\0"))


def _sorted(found: Mapping[str, mx.array], family: HeadFamily) -> HeadTensors:
    layers: dict[str, mx.array] = {}
    last = 0
    for name, array in found.items():
        if match := family.pattern.fullmatch(name):
            number = int(match[1] or 0)
            last = max(last, number)
            layers[f"{family.trunk}.layers.{number}.{match[2]}"] = array
    layers[f"{family.trunk}.{family.final}"] = _part(found, family.final_norm.format(last=last))
    base = family.projection.removesuffix("weight")
    projection = {suffix: found[base + suffix] for suffix in _SUFFIXES if base + suffix in found}
    _part(found, family.projection)
    return HeadTensors(layers, _part(found, family.embedding_norm), _part(found, family.hidden_norm), projection)


def _part(found: Mapping[str, mx.array], name: str) -> mx.array:
    if name not in found:
        raise ModelLoadError(f"draft head: it has no {name}", hint="fetch the model again, or set draft_head = false")
    return found[name]


def _named(files: Sequence[Path], prefix: str) -> dict[str, mx.array]:
    """Tensors whose names begin with `prefix`, without it; a part of a larger model may stand before it."""
    found: dict[str, mx.array] = {}
    for path in files:
        names = [name for name in claims_of(path) if name.startswith((prefix, f"language_model.{prefix}"))]
        if names:
            tensors = cast("dict[str, mx.array]", mx.load(str(path)))
            found |= {name.partition(prefix)[2]: tensors[name] for name in names}
    return found


def _is_raw(files: Sequence[Path]) -> bool:
    """Whether the model's own tensors are as they were published: MLX's format has convolutions in another order."""
    claims = (claim for path in files for name, claim in claims_of(path).items() if name.endswith("conv1d.weight"))
    return any(len(claim.shape) == 3 and claim.shape[-1] != 1 for claim in claims)
