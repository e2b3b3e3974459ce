"""Whether this engine can load a model's files, determined without loading them."""

import importlib.util
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pie_mlx.engine.model.encoders.configuration import Settings, is_encoder
from pie_mlx.engine.model.gguf.configuration import configuration
from pie_mlx.engine.model.gguf.header import read_model
from pie_mlx.engine.model.loading.directory import check_weights
from pie_mlx.engine.model.loading.load import architecture_of, maximum_positions, read_config
from pie_mlx.engine.model.loading.sources import weight_files
from pie_mlx.engine.model.networks.tiers import LATENTS, promised, require_supported, verified
from pie_mlx.errors import ModelError, ModelLoadError

ENCODER_TIER = "encoder: makes vectors, no text"
_LATENT_SIZES = ("kv_lora_rank", "qk_rope_head_dim")
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "tiktoken.model")


@dataclass(frozen=True, slots=True)
class Suitability:
    """What is known about a model's files. `problem` is why they cannot be loaded, "" if they can.

    `tier` is how the architecture uses the page pool, "" if that is determined at the first load, and `lacks` what the
    engine does not do for it, with reasons. `kv_bytes_per_token`
    is for 16 bits, and for layers that all see the whole context.
    """

    problem: str = ""
    architecture: str = ""
    tier: str = ""
    lacks: tuple[tuple[str, str], ...] = ()
    quantization: str = ""
    maximum_positions: int = 0
    weight_bytes: int = 0
    kv_bytes_per_token: int = 0

    def needed_bytes(self, context: int) -> int:
        """Memory with one context of that many tokens."""
        return self.weight_bytes + context * self.kv_bytes_per_token


def suitability(directory: Path) -> Suitability:
    """Check configuration, weight headers and tokenizer; nothing is loaded."""
    try:
        config = read_config(directory)
    except ModelError as error:
        return Suitability(_reason(error, directory))
    architecture, encodes = architecture_of(config), is_encoder(config)
    return Suitability(
        problem=_problem(directory, config, architecture),
        architecture=architecture,
        tier=ENCODER_TIER if encodes else verified().get(architecture, ""),
        lacks=_lacks(architecture),
        quantization=_quantization(config),
        maximum_positions=maximum_positions(config),
        weight_bytes=sum(file.stat().st_size for file in directory.glob("model*.safetensors")),
        kv_bytes_per_token=0 if encodes else _kv_bytes_per_token(config, architecture),
    )


def gguf_suitability(file: Path) -> Suitability:
    """Check the header of a GGUF file; nothing is converted. `weight_bytes` are the file's own."""
    try:
        model = read_model(file)
        config = configuration(model)
    except ModelError as error:
        return Suitability(_reason(error, file))
    sizes = Counter[str]()
    for tensor in model.tensors.values():
        sizes[tensor.kind] += tensor.size_bytes
    architecture = architecture_of(config)
    return Suitability(
        architecture=architecture,
        tier=verified().get(architecture, ""),
        lacks=_lacks(architecture),
        quantization=f"GGUF, {' and '.join(kind for kind, _ in sizes.most_common(2))}",
        maximum_positions=maximum_positions(config),
        weight_bytes=sizes.total(),
        kv_bytes_per_token=_kv_bytes_per_token(config, architecture),
    )


def _kv_bytes_per_token(config: Mapping[str, Any], architecture: str) -> int:
    """0 where the configuration does not say it in the usual words."""
    part = cast("Mapping[str, Any]", config.get("text_config") or config)
    if architecture in LATENTS:
        return 2 * _count(part, "num_hidden_layers") * sum(_count(part, key) for key in _LATENT_SIZES)
    layers, heads, width = (_count(part, key) for key in ("num_hidden_layers", "num_attention_heads", "hidden_size"))
    head = _count(part, "head_dim") or (width // heads if heads else 0)
    return 2 * layers * (_count(part, "num_key_value_heads") or heads) * head * 2


def _lacks(architecture: str) -> tuple[tuple[str, str], ...]:
    known = promised(architecture)
    return () if known is None else tuple(known.lacking().items())


def _count(config: Mapping[str, Any], key: str) -> int:
    value = config.get(key)
    return value if type(value) is int and value > 0 else 0


def _problem(directory: Path, config: Mapping[str, Any], architecture: str) -> str:
    try:
        if is_encoder(config):
            Settings(config).check()
        else:
            require_supported(architecture)
            _require_module(architecture)
        check_weights(directory, weight_files(directory), config)
        _require_tokenizer(directory)
    except ModelError as error:
        return _reason(error, directory)
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    return ""


def _require_module(architecture: str) -> None:
    if not architecture.isidentifier() or importlib.util.find_spec(f"mlx_lm.models.{architecture}") is None:
        raise ModelLoadError(f"model: mlx-lm does not support the architecture {architecture}")


def _require_tokenizer(directory: Path) -> None:
    if not any((directory / name).is_file() for name in _TOKENIZERS):
        raise ModelLoadError("model: no tokenizer")


def _reason(error: ModelError, path: Path) -> str:
    text = (
        error.message.removeprefix("model: ").removeprefix(f"{path} ").removeprefix(f"{path}: ").replace(f"{path}/", "")
    )
    return f"{text}; {error.hint}" if error.hint else text


def _quantization(config: Mapping[str, Any]) -> str:
    settings: Any = config.get("quantization") or config.get("quantization_config")
    if not isinstance(settings, dict) or "bits" not in settings:
        return ""
    settings = cast("dict[str, Any]", settings)
    return f"{str(settings['bits'])[:8]} bits, groups of {str(settings.get('group_size', 64))[:8]}"
