"""From a model directory to an encoder."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import mlx.core as mx

from pie_mlx.engine.model.encoders import bert, modernbert
from pie_mlx.engine.model.encoders.configuration import Settings
from pie_mlx.engine.model.encoders.encoder import Encoder
from pie_mlx.engine.model.encoders.layers import Network, layers
from pie_mlx.engine.model.encoders.pageless import EncoderNetwork
from pie_mlx.engine.model.loaded import LoadedModel, ModelCard
from pie_mlx.engine.model.loading.directory import check_weights
from pie_mlx.engine.model.loading.sources import revision
from pie_mlx.engine.model.loading.vocabulary import eos_token_ids, load_tokenizer
from pie_mlx.engine.model.mlx_lm.modules import parameters_of
from pie_mlx.engine.model.mlx_lm.weights import casting_weights, weight_bytes
from pie_mlx.engine.model.parts import Parts
from pie_mlx.errors import ModelLoadError


def loading_encoder(
    directory: Path,
    files: Sequence[Path],
    config: Mapping[str, Any],
    *,
    name: str,
    dtype: str,
    report: Callable[[str], None],
) -> Parts[LoadedModel]:
    """The encoder of a directory with its tokenizer, as a model that has no pages, in parts. Raises ModelLoadError."""
    check_weights(directory, list(files), config)
    settings = Settings(config)
    network = encoder_network(settings, _weights(files))
    activations = yield from casting_weights(network, dtype, report)
    tokenizer = load_tokenizer(directory)
    longest = min(settings.longest, _tokenizer_limit(tokenizer))
    encoder = Encoder(network, settings.width, longest, settings.labels, settings.head_pooling)
    card = ModelCard(
        name=name,
        identity=f"{activations}\0".encode() + revision(directory, list(files)),
        maximum_positions=longest,
        tokenizer=tokenizer,
        eos_token_ids=eos_token_ids(config, tokenizer),
        config=config,
        dtype=activations,
        weight_bytes=weight_bytes(network),
        files=(directory / "config.json", *files),
    )
    report(f"{name}: {card.weight_bytes / (1 << 20):,.0f} MiB of weights, an encoder of {longest:,} tokens")
    return LoadedModel(card, EncoderNetwork(encoder, settings.integer("vocab_size")))


def encoder_network(settings: Settings, weights: Mapping[str, mx.array]) -> Network:
    """The network with the weights of its files. Raises ModelLoadError for missing ones; others are left out."""
    settings.check()
    made, names = _NETWORKS.get(settings.kind, (bert.Bert, bert.NAMES))
    network = cast("Network", made(settings))
    found = {_renamed(name, names): array for name, array in weights.items()}
    if isinstance(quantised := settings.config.get("quantization"), dict):
        terms = cast("dict[str, Any]", quantised)

        def has_scales(path: str, _: object) -> bool:
            return f"{path}.scales" in found

        layers.quantize(network, terms.get("group_size", 64), terms.get("bits", 4), class_predicate=has_scales)
    wanted = {name: array.shape for name, array in parameters_of(network)}
    wrong = sorted(name for name, shape in wanted.items() if name not in found or found[name].shape != shape)
    if wrong:
        raise ModelLoadError(
            f"model: the weights of this {settings.kind} lack {', '.join(wrong[:3])}, or have another shape there",
            hint="they belong to another configuration; fetch the model again",
        )
    network.load_weights([(name, found[name]) for name in wanted])
    return network


_NETWORKS: dict[str, tuple[Callable[[Settings], Any], tuple[tuple[str, str], ...]]] = {
    "modernbert": (modernbert.ModernBert, modernbert.NAMES)
}
"""Others are kinds of BERT."""


def _renamed(name: str, names: Sequence[tuple[str, str]]) -> str:
    for pattern, replacement in names:
        name = re.sub(pattern, replacement, name)
    return name


def _weights(files: Sequence[Path]) -> dict[str, mx.array]:
    found: dict[str, mx.array] = {}
    for path in files:
        found |= cast("dict[str, mx.array]", mx.load(str(path)))
    return found


def _tokenizer_limit(tokenizer: Any) -> int:
    """Tokens that the tokenizer's files allow: some models were trained on fewer than they have positions for."""
    limit = tokenizer.model_max_length
    return limit if type(limit) is int and limit > 0 else 1 << 62
