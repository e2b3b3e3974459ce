"""A GGUF file as a directory that mlx-lm loads."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import mlx.core as mx
import numpy as np

from pie_mlx.engine.model.gguf.blocks import GROUP, Grouped, read_tensor
from pie_mlx.engine.model.gguf.configuration import configuration
from pie_mlx.engine.model.gguf.header import GgufModel, Tensor, read_model
from pie_mlx.engine.model.gguf.tensors import offset_of, row_order, tensors_by_parameter
from pie_mlx.engine.model.gguf.vocabulary import end_ids, vocabulary
from pie_mlx.engine.model.mlx_lm.modules import empty_network, parameters_of
from pie_mlx.metal.arrays import evaluate

_save = cast("Callable[..., None]", getattr(mx, "save_safetensors"))  # noqa: B009 - its stub lacks types
SHARD_BYTES = 2 << 30
LAYERS_LIMIT = 1024
_EXACT = 1e-6
"""Relative error below which a conversion is called exact."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What became of all tensors of one type: `to` says it, `error` is relative to the weights' root mean square."""

    kind: str
    to: str
    tensors: int
    from_bytes: int
    to_bytes: int
    error: float

    def __str__(self) -> str:
        how = "exact" if self.error < _EXACT else f"error {self.error:.2%}"
        sizes = f"{self.from_bytes / (1 << 20):,.0f} -> {self.to_bytes / (1 << 20):,.0f} MiB"
        return f"{self.kind} -> {self.to}: {how}, {sizes}, {self.tensors} tensors"


def convert(path: Path, directory: Path, *, dtype: str = "auto", dequantise: bool = False) -> list[Choice]:
    """Write the model of a GGUF file to `directory`, which is empty; returns what was chosen for each type of tensor.

    `dtype` of what is not quantised, and of scales, is auto, float32, float16 or bfloat16. Auto is bfloat16 where the
    file has bfloat16 weights and for Gemma, whose activations exceed float16, else float16. Raises ModelLoadError.
    """
    model = read_model(path)
    config = configuration(model)
    network = _network(model, config)
    shapes = {name: value.shape for name, value in parameters_of(network)}
    tensors = tensors_by_parameter(model, shapes, config["num_hidden_layers"])
    tokenizer, settings = vocabulary(model)
    kind = _dtype(model, dtype)
    weights = _Weights(directory)
    for parameter, tensor in tensors.items():
        order = row_order(model.architecture, parameter, config)
        part = read_tensor(tensor, kind, order=order, dequantise=dequantise)
        if offset := offset_of(model.architecture, parameter):
            part = Grouped((read_tensor(tensor, mx.float32, order=None, dequantise=True).scales - offset).astype(kind))
        weights.add(parameter, shapes[parameter], part, tensor)
    weights.finish()
    config |= weights.quantization | ({"eos_token_id": ends} if (ends := end_ids(model)) else {})
    config["torch_dtype"] = str(kind).removeprefix("mlx.core.")
    tokenizer.save(str(directory / "tokenizer.json"))
    (directory / "tokenizer_config.json").write_text(json.dumps(settings, ensure_ascii=False))
    (directory / "config.json").write_text(json.dumps(config, indent=1))
    return weights.choices()


def _network(model: GgufModel, config: Mapping[str, Any]) -> Any:
    if not 1 <= config["num_hidden_layers"] <= min(LAYERS_LIMIT, len(model.tensors)):
        raise model.refused(f"it has {config['num_hidden_layers']} layers of {len(model.tensors)} tensors")
    try:
        return empty_network(config)
    except (Exception, SystemExit) as error:  # mlx-lm raises many kinds for sizes that do not fit
        raise model.refused(f"its sizes are those of no model: {type(error).__name__}: {error}") from error


def _dtype(model: GgufModel, wanted: str) -> mx.Dtype:
    if wanted != "auto":
        return getattr(mx, wanted)
    wide = model.architecture.startswith("gemma") or any(one.kind == "BF16" for one in model.tensors.values())
    return mx.bfloat16 if wide else mx.float16


class _Weights:
    """Writes weights as they come, in files of some gigabytes."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._pending: dict[str, mx.array] = {}
        self._places: dict[str, str] = {}
        self._settings: dict[str, tuple[int, int, str]] = {}
        self._parts: dict[tuple[str, str], list[tuple[int, int, float]]] = defaultdict(list)

    def add(self, parameter: str, shape: tuple[int, ...], part: Grouped, tensor: Tensor) -> None:
        if part.codes is None:
            arrays = {parameter: mx.reshape(part.scales, shape)}
        else:
            layer = parameter.removesuffix(".weight")
            self._settings[layer] = part.settings
            parts = {"weight": part.codes, "scales": part.scales, "biases": part.biases}
            arrays = {
                f"{layer}.{name}": mx.reshape(one, (*shape[:-1], -1)) for name, one in parts.items() if one is not None
            }
        evaluate(*arrays.values())
        written = sum(one.nbytes for one in arrays.values())
        self._parts[tensor.kind, _described(part)].append((tensor.size_bytes, written, part.error))
        if sum(one.nbytes for one in self._pending.values()) + written > SHARD_BYTES:
            self._write()
        self._pending |= arrays

    def finish(self) -> None:
        self._write()
        index = {"metadata": {}, "weight_map": self._places}
        (self._directory / "model.safetensors.index.json").write_text(json.dumps(index))

    def _write(self) -> None:
        if self._pending:
            name = f"model-{len(set(self._places.values())) + 1:05}.safetensors"
            _save(str(self._directory / name), self._pending, metadata={"format": "mlx"})
            self._places |= dict.fromkeys(self._pending, name)
            self._pending = {}

    @property
    def quantization(self) -> dict[str, Any]:
        """Settings per layer."""
        if not self._settings:
            return {}
        layers = {
            layer: {"group_size": group, "bits": bits, "mode": mode}
            for layer, (group, bits, mode) in self._settings.items()
        }
        return {"quantization": {"group_size": GROUP, "bits": 4, "mode": "affine", **layers}}

    def choices(self) -> list[Choice]:
        return [
            Choice(
                kind,
                to,
                len(parts),
                sum(one for one, _, _ in parts),
                sum(two for _, two, _ in parts),
                float(np.sqrt(np.average([error**2 for *_, error in parts], weights=[one for one, *_ in parts]))),
            )
            for (kind, to), parts in self._parts.items()
        ]


def _described(part: Grouped) -> str:
    group, bits, mode = part.settings
    if part.codes is None:
        return str(part.scales.dtype).removeprefix("mlx.core.")
    return mode if mode != "affine" else f"{bits} bits, groups of {group}"
