"""From a model's name to a LoadedModel."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import mlx.core as mx

from pie_mlx.backends import current_backend
from pie_mlx.engine.model.encoders.configuration import is_encoder
from pie_mlx.engine.model.heads.loading import HeadNetwork, load_head
from pie_mlx.engine.model.loaded import HeadModel, LoadedModel, ModelCard
from pie_mlx.engine.model.loading.directory import check_weights, checked_config
from pie_mlx.engine.model.loading.encoder import loading_encoder
from pie_mlx.engine.model.loading.self_test import compared_network
from pie_mlx.engine.model.loading.sources import EMBEDDED, located, ready, revision, weight_files
from pie_mlx.engine.model.loading.vocabulary import eos_token_ids, load_tokenizer
from pie_mlx.engine.model.memory import BUFFER_CACHE_BYTES, bound_buffer_cache, with_format
from pie_mlx.engine.model.mlx_lm import hook
from pie_mlx.engine.model.mlx_lm.modules import (
    Module,
    headless_options,
    load_config,
    load_weights,
    renamed_architectures,
)
from pie_mlx.engine.model.mlx_lm.weights import casting_weights, weight_bytes
from pie_mlx.engine.model.networks.network import Network
from pie_mlx.engine.model.networks.null_network import NullNetwork
from pie_mlx.engine.model.parts import Parts, Pause, at_once
from pie_mlx.engine.settings import UNCHANGED, KvFormat
from pie_mlx.errors import ModelLoadError, PieError
from pie_mlx.metal import LayerShape

if TYPE_CHECKING:
    from pie_mlx.engine.model.networks.script import Script

DEFAULT_POSITIONS = 4096
_MOST_POSITIONS = (1 << 31) - 1
_POSITION_KEYS = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length", "n_ctx")


def _silent(_: str) -> None: ...


def loading_model(
    reference: str,
    *,
    name: str,
    dtype: str = "auto",
    progress: Callable[[str], None] | None = None,
    allow_download: bool = False,
    git_revision: str | None = None,
    buffer_cache_bytes: int = BUFFER_CACHE_BYTES,
    kv: KvFormat = UNCHANGED,
    draft_head: bool = False,
) -> Parts[LoadedModel]:
    """Load weights and tokenizer, in parts; call `allocate` on the result before the first step.

    `reference` is a directory, a repo id of the local Hugging Face cache (downloaded only with `allow_download`) or
    `pie-tiny`. `dtype` is auto, float32, float16 or bfloat16; auto is float32 without a GPU and the checkpoint's own
    with one. `git_revision` is that of a repo id. `kv` is how pages hold keys and values. With `draft_head` the model's
    own draft head is loaded too, if it has one. Raises ModelNotFoundError,
    ModelLoadError and, for pages that the model cannot have, InvalidArgumentError.
    """
    report = progress or _silent
    yield Pause(beside=True)
    path = located(reference, allow_download=allow_download, progress=report, revision=git_revision)
    yield Pause()
    directory = ready(path, report)
    config = read_config(directory)
    files = weight_files(directory)
    report(f"matrix products: {current_backend().prepare()}")
    bound_buffer_cache(buffer_cache_bytes)
    if is_encoder(config):
        with _building(directory, config):
            return (yield from loading_encoder(directory, files, config, name=name, dtype=dtype, report=report))
    model = load_network(directory, files, config, lazy=True)
    with _building(directory, config):
        activations = yield from casting_weights(model, dtype, report)
        total = weight_bytes(model)
        found = find_own_head(directory, files, model, config, activations, report) if draft_head else None
        network = compared_network(model, architecture_of(config), activations, report)
    layers = with_format(network.shapes, kv, name)
    yield Pause(total, total, beside=True)
    tokenizer = load_tokenizer(directory)
    card = ModelCard(
        name=name,
        identity=f"{activations}\0{_kv_identity(layers)}".encode() + revision(directory, files),
        maximum_positions=maximum_positions(config),
        tokenizer=tokenizer,
        eos_token_ids=eos_token_ids(config, tokenizer),
        config=config,
        dtype=activations,
        weight_bytes=total,
        files=(directory / "config.json", *files),
    )
    yield Pause(total, total)
    report(f"{name}: {card.weight_bytes / (1 << 20):,.0f} MiB of weights, {network.tier}")
    loaded = LoadedModel(card, network, layers)
    if found is not None:
        report(f"{name}: {found.weight_bytes / (1 << 20):,.1f} MiB of a draft head")
        loaded.head = _head_model(card, found, kv)
    return loaded


load_model = at_once(loading_model)


def find_own_head(
    directory: Path,
    files: Sequence[Path],
    model: Module,
    config: Mapping[str, Any],
    dtype: mx.Dtype,
    report: Callable[[str], None],
    *,
    lazy: bool = False,
) -> HeadNetwork | None:
    """The model's own draft head, before a network is made of the `model`; `lazy` leaves its weights on disk.

    One that cannot be used is reported: the model writes the same without it.
    """
    try:
        return load_head(directory, files, model, config, architecture_of(config), dtype, report, lazy=lazy)
    except ModelLoadError as error:
        report(f"{error.message}; it is not used")
        return None


def _head_model(trunk: ModelCard, head: HeadNetwork, kv: KvFormat) -> HeadModel:
    name = f"the draft head of {trunk.name}"
    card = replace(trunk, name=name, weight_bytes=head.weight_bytes, files=())
    layers = with_format(head.network.shapes, kv, name)
    return HeadModel(LoadedModel(card, head.network, layers), head.network, head.embedding)


def _kv_identity(layers: Sequence[LayerShape]) -> str:
    """What pages hold besides elements of the activations' type."""
    kinds = [layer.quantisation for layer in layers]
    named = ("-" if kind is None else f"{kind.bits}/{kind.group_size}" for kind in kinds)
    return f"{' '.join(named)}\0" if any(kinds) else ""


def null_model(*, name: str = "dummy") -> LoadedModel:
    """A model without weights: pseudo-random logits of (token, position), pie-tiny's tokenizer."""
    return _weightless(name, b"null", lambda tokenizer, size: NullNetwork(size))


def scripted_model(
    script: "Script", token_bytes: Callable[[Any], Mapping[int, bytes]], *, name: str = "scripted"
) -> LoadedModel:
    """A model without weights that says what a script says, with pie-tiny's tokenizer and chat template.

    `token_bytes` are those of a tokenizer by id.
    """
    from pie_mlx.engine.model.networks.script import ScriptReader
    from pie_mlx.engine.model.networks.scripted_network import ScriptedNetwork

    def network(tokenizer: Any, size: int) -> Network:
        known = token_bytes(tokenizer)
        pieces = [known.get(token, b"") for token in range(size)]
        return ScriptedNetwork(ScriptReader(tokenizer, pieces, tokenizer.eos_token_id, script))

    return _weightless(name, b"scripted", network)


def _weightless(name: str, identity: bytes, network: Callable[[Any, int], Network]) -> LoadedModel:
    directory = EMBEDDED / "pie-tiny"
    config = read_config(directory)
    tokenizer = load_tokenizer(directory)
    card = ModelCard(
        name=name,
        identity=identity,
        maximum_positions=maximum_positions(config),
        tokenizer=tokenizer,
        eos_token_ids=eos_token_ids(config, tokenizer),
        config=config,
        dtype=mx.float32,
        weight_bytes=0,
    )
    return LoadedModel(card, network(tokenizer, int(config["vocab_size"])))


def read_config(directory: Path) -> dict[str, Any]:
    """config.json, with the end-of-sequence ids of generation_config.json. Raises ModelLoadError."""
    checked_config(directory)
    return load_config(directory)


def architecture_of(config: Mapping[str, Any]) -> str:
    """The mlx-lm module that implements the model."""
    model_type = str(config["model_type"])
    return str(renamed_architectures.get(model_type, model_type))


def maximum_positions(config: Mapping[str, Any]) -> int:
    """Positions the model was made for; also looked for in the text part of a multimodal configuration."""
    nested = cast("Mapping[str, Any]", config.get("text_config") or {})
    for source in (config, nested):
        for key in _POSITION_KEYS:
            if type(value := source.get(key)) is int and value > 0:
                return min(value, _MOST_POSITIONS)
    return DEFAULT_POSITIONS


def load_network(directory: Path, files: list[Path], config: Mapping[str, Any], *, lazy: bool = False) -> Module:
    """The network of a model directory; `lazy` leaves the weights on disk. Raises ModelLoadError."""
    names = check_weights(directory, files, config)
    with _building(directory, config):
        options = headless_options() if "embed_tokens.weight" in names else {}
        model, _ = load_weights(directory, lazy=lazy, **options)
    hook.install()
    return model


@contextmanager
def _building(directory: Path, config: Mapping[str, Any]) -> Generator[None]:
    """mlx-lm raises many kinds for files that do not fit, and may even exit."""
    try:
        yield
    except PieError:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, ValueError) and "not supported" in str(error):
            raise ModelLoadError(
                f"model: {directory}: {_one_line(error)}",
                hint="choose an architecture mlx-lm has (docs/reference/architectures.md)",
            ) from error
        raise ModelLoadError(
            f"model: the {config['model_type']} in {directory} cannot be built: "
            f"{type(error).__name__}: {_one_line(error)}",
            hint="the weights may be truncated or belong to another configuration; fetch the model again",
        ) from error


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]
