"""Reads adapter files as additions to a model's projections, and writes them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import mlx.core as mx

from pie_mlx.documents import json_value
from pie_mlx.engine.model.adapters.content import AdapterContent, LowRank
from pie_mlx.engine.model.adapters.formats.base import Format, NamedPair, table
from pie_mlx.engine.model.adapters.formats.mlx_lm import MlxLmFormat
from pie_mlx.engine.model.adapters.formats.peft import PeftFormat
from pie_mlx.engine.model.adapters.formats.tensors import read_tensors, write_tensors
from pie_mlx.engine.model.adapters.targets import Target
from pie_mlx.errors import AdapterFormatError, AdapterShapeError, InvalidArgumentError
from pie_mlx.metal.arrays import evaluate

FORMATS: Sequence[Format] = (PeftFormat(), MlxLmFormat())


def read_adapter(config_text: str, data: bytes, targets: Mapping[str, Target], dtype: mx.Dtype) -> AdapterContent:
    """Reads an adapter for a model with these projections. Its matrices get `dtype`.

    Raises AdapterFormatError for files that are damaged or hold anything but low-rank pairs, AdapterShapeError for
    those of another model.
    """
    config = _config(config_text)
    format = next((one for one in FORMATS if one.recognises(config)), None)
    if format is None:
        raise AdapterFormatError(
            "adapter: adapter_config.json is neither PEFT's nor mlx-lm's", hint="use the file that the trainer wrote"
        )
    additions: dict[str, LowRank] = {}
    for pair in format.pairs(config, read_tensors(data)):
        target = _target(pair, targets)
        if target.path in additions:
            raise AdapterFormatError(f"adapter: two pairs for {target.path}", hint="train it again")
        additions[target.path] = LowRank(_cast(pair.down, dtype), _cast(pair.up, dtype), pair.scale)
    content = AdapterContent(additions)
    evaluate(content.arrays())
    _check_finite(content)
    return content


def write_adapter(content: AdapterContent, layers: int) -> tuple[str, bytes]:
    """Returns adapter_config.json and adapters.safetensors as mlx-lm reads them, for a model with `layers` blocks.

    mlx-lm knows one rank and one scale. Projections that differ from the first are listed in patterns that only we
    read.
    """
    additions = content.additions
    first = next(iter(additions.values()))
    rank, scale = first.rank, first.scale
    config = {
        "fine_tune_type": "lora",
        "num_layers": layers,
        "lora_parameters": {
            "rank": rank,
            "scale": scale,
            "dropout": 0.0,
            "keys": sorted({_within_block(path) for path in additions}),
        },
        "rank_pattern": {path: one.rank for path, one in additions.items() if one.rank != rank},
        "scale_pattern": {path: one.scale for path, one in additions.items() if one.scale != scale},
    }
    tensors: dict[str, mx.array] = {}
    for path, one in additions.items():
        tensors[f"{path}.lora_a"], tensors[f"{path}.lora_b"] = _stored(one.down), _stored(one.up)
    return json.dumps(config, indent=1), write_tensors(tensors)


def _config(text: str) -> Mapping[str, Any]:
    try:
        return table(json_value(text), "adapter_config.json")
    except InvalidArgumentError as error:
        raise AdapterFormatError(f"adapter: adapter_config.json: {error.message}", hint="copy it again") from error


def _target(pair: NamedPair, targets: Mapping[str, Target]) -> Target:
    """The projection that a file names: by its full path, or the only one whose path ends with the name."""
    found = targets.get(pair.name)
    if found is None:
        ending = [target for path, target in targets.items() if path.endswith(f".{pair.name}")]
        if len(ending) != 1:
            raise AdapterShapeError(
                f"adapter: the model has no projection {pair.name}", hint="load it with the model it was trained for"
            )
        found = ending[0]
    rank = pair.down.shape[-1]
    for side, shape, expected in (
        ("input", pair.down.shape, found.down_shape(rank)),
        ("output", pair.up.shape, found.up_shape(rank)),
    ):
        if tuple(shape) != expected:
            raise AdapterShapeError(
                f"adapter: {pair.name}: its {side}-side matrix is {list(shape)}, the model needs {list(expected)}",
                hint="load it with the model it was trained for",
            )
    return found


def _cast(array: mx.array, dtype: mx.Dtype) -> mx.array:
    if not mx.issubdtype(array.dtype, mx.floating):
        raise AdapterFormatError(f"adapter: a matrix has {array.dtype} values", hint="use floating-point matrices")
    return mx.contiguous(array.astype(dtype))


def _check_finite(content: AdapterContent) -> None:
    """Raises AdapterFormatError for NaN or infinity, which would spread to the rows of other programs."""
    bad = [
        path
        for path, one in content.additions.items()
        if not (mx.all(mx.isfinite(one.down)).item() and mx.all(mx.isfinite(one.up)).item())
    ]
    if bad:
        raise AdapterFormatError(f"adapter: {bad[0]} has NaN or infinite values", hint="train it again")


def _stored(matrix: mx.array) -> mx.array:
    return matrix if matrix.ndim == 2 else mx.contiguous(matrix.swapaxes(-1, -2))


def _within_block(path: str) -> str:
    """The part of a path after the number of its block: mlx-lm's keys."""
    parts = path.split(".")
    place = next((index for index, part in enumerate(parts) if part.isdigit()), -1)
    return ".".join(parts[place + 1 :])
