"""The files of a model directory, looked at before any library reads them.

Anybody can put a model on the hub. mlx-lm, transformers and tokenizers believe what its files say: they may build for
hours, allocate without end or take the process down.
"""

import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from pie_mlx.backends import current_backend
from pie_mlx.documents import json_object, read_limited
from pie_mlx.engine.model.tensor_header import Claim, claims_of
from pie_mlx.errors import InvalidArgumentError, ModelLoadError

CONFIG_LIMIT_BYTES = 4 << 20
FILE_LIMIT_BYTES = 64 << 20
"""Bytes of any file except weights: the largest vocabularies have half of it."""
LAYERS_LIMIT = 1024
"""More than any model has, and few enough to be built in seconds."""

_READ = (".json", ".jinja", ".txt", ".model", ".tiktoken", ".safetensors")
_CONFIGS = ("generation_config.json", "hf_quant_config.json", "preprocessor_config.json")
_LAYER_KEYS = ("num_hidden_layers", "num_layers", "n_layers", "n_layer")
_NESTED = ("text_config", "llm_config", "language_config")
_ARCHITECTURE = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_INTEGERS = range(1 << 31)
_AGAIN = "fetch the model again"


def checked_config(directory: Path) -> dict[str, Any]:
    """config.json as it is written. Raises ModelLoadError for a directory with files that are not safe to read."""
    _check_files(directory)
    path = directory / "config.json"
    if not path.is_file():
        raise ModelLoadError(f"model: {directory} holds no config.json", hint="name a model directory")
    config = _object(path)
    for name in _CONFIGS:
        if (directory / name).is_file():
            _check_end(directory / name, _object(directory / name))
    if "model_type" not in config:
        raise ModelLoadError(f"model: {path} names no model_type", hint="name a model that mlx-lm can load")
    kind = config["model_type"]
    if not isinstance(kind, str) or not _ARCHITECTURE.fullmatch(kind):
        raise _wrong(path, "model_type", kind)
    _check_end(path, config)
    for part in _parts(path, config):
        _check_heads(path, part)
    return config


def check_weights(directory: Path, files: list[Path], config: Mapping[str, Any]) -> frozenset[str]:
    """The names of the weights.

    Raises ModelLoadError for missing shards, headers that do not hold, and weights that are none of the model's."""
    _check_index(directory, files)
    claims: dict[str, Claim] = {}
    for path in files:
        try:
            claims |= claims_of(path)
        except InvalidArgumentError as error:
            raise ModelLoadError(f"model: {path}: {error.message}", hint=error.hint) from None
        except OSError as error:
            raise ModelLoadError(f"model: {path}: {error.strerror}", hint="check its permissions") from None
    _check_layers(directory, config, len(claims))
    needed, there = sum(claim.end - claim.begin for claim in claims.values()), current_backend().memory_bytes()
    if needed > there:
        raise ModelLoadError(
            f"model: the weights in {directory} take {needed >> 30:,} GiB, this machine has {there >> 30:,}",
            hint="choose a smaller model, or one of fewer bits",
        )
    return frozenset(claims)


def _check_files(directory: Path) -> None:
    try:
        paths = [path for path in directory.iterdir() if path.suffix in _READ and path.exists()]
        facts = [(path, path.stat()) for path in sorted(paths)]
    except OSError as error:
        raise ModelLoadError(f"model: {error.filename}: {error.strerror}", hint="check its permissions") from None
    for path, found in facts:
        limit = CONFIG_LIMIT_BYTES if path.name in ("config.json", *_CONFIGS) else FILE_LIMIT_BYTES
        if not stat.S_ISREG(found.st_mode):
            raise ModelLoadError(f"model: {path} is no regular file", hint="remove it, or fetch the model again")
        if path.suffix != ".safetensors" and found.st_size > limit:
            raise ModelLoadError(f"model: {path} is longer than {limit >> 20} MiB", hint=_AGAIN)


def _object(path: Path) -> dict[str, Any]:
    try:
        return json_object(read_limited(path, CONFIG_LIMIT_BYTES))
    except InvalidArgumentError as error:
        raise ModelLoadError(f"model: {path}: {error.message}", hint=_AGAIN) from None
    except OSError as error:
        raise ModelLoadError(f"model: {path}: {error.strerror}", hint="check its permissions") from None


def _parts(path: Path, config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The configuration, and those of models inside of it."""
    yield config
    for key in _NESTED:
        part = config.get(key)
        if isinstance(part, dict):
            yield cast("dict[str, Any]", part)
        elif part is not None:
            raise _wrong(path, key, part)


def _check_end(path: Path, config: Mapping[str, Any]) -> None:
    named: object = config.get("eos_token_id")
    ids = cast("list[object]", named) if isinstance(named, list) else [named]
    if named is not None and not all(type(one) is int and one in _INTEGERS for one in ids):
        raise _wrong(path, "eos_token_id", config["eos_token_id"])


def _check_heads(path: Path, part: Mapping[str, Any]) -> None:
    heads, shared = part.get("num_attention_heads"), part.get("num_key_value_heads")
    if type(heads) is int and type(shared) is int and (min(heads, shared) < 1 or heads % shared):
        raise _wrong(path, "num_key_value_heads", shared, f" for {heads} attention heads")


def _check_layers(directory: Path, config: Mapping[str, Any], tensors: int) -> None:
    """Each layer has weights of its own."""
    most = min(LAYERS_LIMIT, tensors)
    for part in _parts(directory / "config.json", config):
        for key in _LAYER_KEYS:
            if type(value := part.get(key)) is int and value > most:
                why = f", and there are {tensors} tensors" if most == tensors else f", and {most:,} are the most"
                raise _wrong(directory / "config.json", key, value, why)


def _check_index(directory: Path, files: list[Path]) -> None:
    index = directory / "model.safetensors.index.json"
    if not index.is_file():
        return
    try:
        named: object = json_object(read_limited(index, FILE_LIMIT_BYTES)).get("weight_map", {})
    except InvalidArgumentError as error:
        raise ModelLoadError(f"model: {index}: {error.message}", hint=_AGAIN) from None
    shards = list(cast("dict[str, object]", named).values()) if isinstance(named, dict) else [named]
    if not all(isinstance(shard, str) for shard in shards):
        raise _wrong(index, "weight_map", shards)
    missing = sorted({str(shard)[:100] for shard in shards} - {path.name for path in files})
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise ModelLoadError(
            f"model: {directory} lacks {', '.join(missing[:3])}{more}",
            hint="fetch the model again; a download was cut short",
        )


def _wrong(path: Path, key: str, value: object, why: str = "") -> ModelLoadError:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:60]}..."
    return ModelLoadError(f"model: {path}: {key} is {shown}{why}", hint="it belongs to other weights, or is damaged")
