"""From a model's name to a LoadedModel."""

import json
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import mlx.core as mx

from pie_mlx.engine.model import hook
from pie_mlx.engine.model.blas import use_fast_blas
from pie_mlx.engine.model.heap import keep_freed_memory
from pie_mlx.engine.model.loaded import LoadedModel, ModelCard
from pie_mlx.engine.model.memory import BUFFER_CACHE_BYTES, bound_buffer_cache
from pie_mlx.engine.model.modules import Module, load_config, load_weights, renamed_architectures
from pie_mlx.engine.model.null_network import NullNetwork
from pie_mlx.engine.model.paged_network import PagedNetwork
from pie_mlx.engine.model.self_test import self_test
from pie_mlx.engine.model.sources import EMBEDDED, find_model, revision, weight_files
from pie_mlx.engine.model.tiers import verified
from pie_mlx.engine.model.vocabulary import eos_token_ids, load_tokenizer
from pie_mlx.engine.model.weights import cast_weights, weight_bytes
from pie_mlx.errors import ModelLoadError

DEFAULT_POSITIONS = 4096
_POSITION_KEYS = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length", "n_ctx")


def _silent(_: str) -> None: ...


def load_model(
    reference: str,
    *,
    name: str,
    dtype: str = "auto",
    progress: Callable[[str], None] | None = None,
    allow_download: bool = False,
    git_revision: str | None = None,
    buffer_cache_bytes: int = BUFFER_CACHE_BYTES,
) -> LoadedModel:
    """Load weights and tokenizer; call `allocate` on the result before the first step.

    `reference` is a directory, a repo id of the local Hugging Face cache (downloaded only with `allow_download`) or
    `pie-tiny`. `dtype` is auto, float32, float16 or bfloat16; auto is float32 without a GPU and the checkpoint's own
    with one. `git_revision` is that of a repo id. Raises ModelNotFoundError and ModelLoadError.
    """
    report = progress or _silent
    directory = find_model(reference, allow_download=allow_download, progress=report, revision=git_revision)
    keep_freed_memory()
    report(f"matrix products: {use_fast_blas()}")
    bound_buffer_cache(buffer_cache_bytes)
    config = read_config(directory)
    files = weight_files(directory)
    model = load_network(directory, files, config)
    activations = cast_weights(model, dtype, report)
    network = PagedNetwork(model, architecture_of(config))
    if architecture_of(config) not in verified():
        report(f"{architecture_of(config)} was never compared with mlx-lm's own cache: comparing now")
        self_test(model, network, architecture_of(config), activations)
    tokenizer = load_tokenizer(directory)
    card = ModelCard(
        name=name,
        identity=f"{name}\0{activations}\0".encode() + revision(directory, files),
        maximum_positions=maximum_positions(config),
        tokenizer=tokenizer,
        eos_token_ids=eos_token_ids(config, tokenizer),
        config=config,
        dtype=activations,
        weight_bytes=weight_bytes(model),
    )
    report(f"{name}: {card.weight_bytes / (1 << 20):,.0f} MiB of weights, {network.tier}")
    return LoadedModel(card, network)


def null_model(*, name: str = "dummy") -> LoadedModel:
    """A model without weights: pseudo-random logits of (token, position), pie-tiny's tokenizer."""
    directory = EMBEDDED / "pie-tiny"
    config = read_config(directory)
    tokenizer = load_tokenizer(directory)
    card = ModelCard(
        name=name,
        identity=f"{name}\0null".encode(),
        maximum_positions=maximum_positions(config),
        tokenizer=tokenizer,
        eos_token_ids=eos_token_ids(config, tokenizer),
        config=config,
        dtype=mx.float32,
        weight_bytes=0,
    )
    return LoadedModel(card, NullNetwork(int(config["vocab_size"])))


def read_config(directory: Path) -> dict[str, Any]:
    """config.json, with the end-of-sequence ids of generation_config.json. Raises ModelLoadError."""
    path = directory / "config.json"
    if not path.is_file():
        raise ModelLoadError(f"model: {directory} holds no config.json", hint="name a model directory")
    try:
        config = load_config(directory)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ModelLoadError(f"model: {path} is no JSON: {error}", hint="fetch the model again") from error
    if "model_type" not in config:
        raise ModelLoadError(f"model: {path} names no model_type", hint="name a model that mlx-lm can load")
    return config


def architecture_of(config: Mapping[str, Any]) -> str:
    """The mlx-lm module that implements the model."""
    model_type = str(config["model_type"])
    return str(renamed_architectures.get(model_type, model_type))


def maximum_positions(config: Mapping[str, Any]) -> int:
    """Positions the model was made for; also looked for in the text part of a multimodal configuration."""
    nested = cast("Mapping[str, Any]", config.get("text_config") or {})
    for source in (config, nested):
        for key in _POSITION_KEYS:
            if isinstance(source.get(key), int):
                return int(source[key])
    return DEFAULT_POSITIONS


def load_network(directory: Path, files: list[Path], config: Mapping[str, Any], *, lazy: bool = False) -> Module:
    """The network of a model directory; `lazy` leaves the weights on disk. Raises ModelLoadError."""
    check_weight_files(directory, files)
    try:
        model, _ = load_weights(directory, lazy=lazy)
    except ValueError as error:
        raise ModelLoadError(f"model: {_one_line(error)}", hint=_hint(error)) from error
    except (Exception, SystemExit) as error:  # mlx-lm raises many kinds for files that do not fit, and may even exit
        raise ModelLoadError(
            f"model: the {config['model_type']} in {directory} cannot be built: "
            f"{type(error).__name__}: {_one_line(error)}",
            hint="the weights may be truncated or belong to another configuration; fetch the model again",
        ) from error
    hook.install()
    return model


def _hint(error: ValueError) -> str:
    if "not supported" in str(error):
        return "choose an architecture mlx-lm has (docs/reference/architectures.md)"
    return "the weights may be truncated or belong to another configuration; fetch the model again"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]


def check_weight_files(directory: Path, files: list[Path]) -> None:
    """Raises ModelLoadError for missing shards and truncated files, which MLX would report badly or not at all."""
    index = directory / "model.safetensors.index.json"
    if index.is_file():
        named = set(json.loads(index.read_text()).get("weight_map", {}).values())
        missing = sorted(named - {path.name for path in files})
        if missing:
            raise ModelLoadError(
                f"model: {directory} lacks {', '.join(missing)}", hint="fetch the model again; a download was cut short"
            )
    for path in files:
        _check_length(path)


def _check_length(path: Path) -> None:
    size = path.stat().st_size
    with path.open("rb") as file:
        prefix = file.read(8)
        length = struct.unpack("<Q", prefix)[0] if len(prefix) == 8 else size
        try:
            header = json.loads(file.read(length)) if length <= size - 8 else None
        except ValueError:
            header = None
    if header is None:
        raise ModelLoadError(f"model: {path} is no safetensors file", hint="fetch it again")
    ends = [entry["data_offsets"][1] for key, entry in header.items() if key != "__metadata__"]
    if 8 + length + max(ends, default=0) != size:
        raise ModelLoadError(
            f"model: {path} has {size:,} bytes, its header describes {8 + length + max(ends, default=0):,}",
            hint="the file is damaged or was not fetched whole; fetch it again",
        )
