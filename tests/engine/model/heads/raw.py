"""Tiny models with draft heads, stored as published, and what the heads must say, in plain MLX without pages."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np

from pie_mlx.engine.model.heads.families import FAMILIES
from pie_mlx.engine.model.heads.module import head_settings
from pie_mlx.engine.model.loading.load import load_network, read_config
from pie_mlx.engine.model.loading.sources import weight_files
from pie_mlx.engine.model.mlx_lm.library import base
from pie_mlx.engine.model.mlx_lm.modules import model_of, parameters_of
from tests.models import write_tiny_model

WIDTH, LAYERS = 64, 4
EXPERTS = {"moe_intermediate_size": 32, "moe_shared_expert_intermediate_size": 32, "n_group": 1, "topk_group": 1} | {
    "n_shared_experts": 1, "n_routed_experts": 4, "num_experts_per_tok": 2, "norm_topk_prob": True,
    "routed_scaling_factor": 1.0, "num_nextn_predict_layers": 1, "mtp_hybrid_override_pattern": "*E",
}  # fmt: skip
OPTIONS: dict[str, dict[str, Any]] = {
    "deepseek_v3": {"n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1},
    "nemotron_h": EXPERTS,
}
BESIDE = ("deepseek_v3", "glm4_moe_lite", "qwen3")
"""Whose own files mlx-lm would refuse with a head of this size, or never has one."""


@dataclass
class RawHead:
    """A model directory and the head in it: `layers` of mlx-lm's format, and the norms and projection before them."""

    directory: Path
    architecture: str
    config: dict[str, Any]
    layers: Any
    before: dict[str, mx.array]

    @property
    def trunk(self) -> Any:
        return load_network(self.directory, weight_files(self.directory), self.config)

    def logits(self, trunk: Any, tokens: np.ndarray, hidden: mx.array) -> mx.array:
        """After each of `tokens` [T], which follow the states `hidden` [T, WIDTH]: [T, vocabulary]."""
        outer, inner = getattr(trunk, "language_model", trunk), getattr(self.layers, "language_model", self.layers)
        family = FAMILIES[self.architecture]
        source, part = getattr(outer, family.trunk), getattr(inner, family.trunk)
        embedding = source.embeddings if hasattr(source, "embeddings") else source.embed_tokens
        epsilon = getattr(part, family.final.partition(".")[0]).eps
        states = [
            mx.fast.rms_norm(embedding(mx.array(tokens)), self.before["embedding"], epsilon),
            mx.fast.rms_norm(hidden, self.before["hidden"], epsilon),
        ]
        x = mx.concatenate(states[:: -1 if family.hidden_first else 1], -1) @ self.before["projection"].T
        mask = base.create_attention_mask(x[None], None, return_array=True)
        out = x[None]
        for layer in part.layers:
            out = layer(out, mask=mask, cache=None)
        out = getattr(part, family.final.partition(".")[0])(out)
        return (outer.lm_head(out) if hasattr(outer, "lm_head") else embedding.as_linear(out))[0]


def write_model_with_head(folder: Path, architecture: str) -> RawHead:
    """Random weights; the model itself is in mlx-lm's format, but for a hybrid's, which is as published."""
    write_tiny_model(folder, architecture, **OPTIONS.get(architecture, {}))
    config, family = read_config(folder), FAMILIES[architecture]
    layers = model_of(head_settings(config, family))
    random = np.random.default_rng(3)
    given = {name: _random(random, name, array.shape) for name, array in parameters_of(layers)}
    layers.load_weights(list(given.items()))
    before = {name: _random(random, "norm.weight", (WIDTH,)) for name in ("embedding", "hidden")}
    before["projection"] = _random(random, "weight", (WIDTH, 2 * WIDTH))
    is_raw = bool(family.less_one)
    stored = _published(architecture, given, before, is_raw=is_raw)
    name = "mtp.safetensors" if architecture in BESIDE else "model-mtp.safetensors"
    mx.save_safetensors(str(folder / name), stored)
    if is_raw:
        _publish_trunk(folder, architecture)
    return RawHead(folder, architecture, config, layers, before)


def _random(random: np.random.Generator, name: str, shape: tuple[int, ...]) -> mx.array:
    if name.endswith("norm.weight") or "norm" in name.split(".")[-2:][0]:
        return mx.array(1 + 0.2 * random.standard_normal(shape), mx.float32)
    return mx.array(random.standard_normal(shape) * shape[-1] ** -0.5, mx.float32)


def _published(architecture: str, given: dict[str, mx.array], before: dict[str, mx.array], *, is_raw: bool) -> Any:
    """The head's tensors under the names, and in the form, of published checkpoints."""
    family = FAMILIES[architecture]
    prefix, last = family.prefix.format(layers=LAYERS), 0
    stored: dict[str, mx.array] = {}
    for name, array in given.items():
        inner = name.removeprefix("language_model.")
        if inner.startswith(f"{family.trunk}.layers."):
            number, _, rest = inner.removeprefix(f"{family.trunk}.layers.").partition(".")
            last = max(last, int(number))
            place = f"layers.{number}." if architecture.startswith("qwen") else ""
            place = f"{number}." if architecture == "nemotron_h" else place
            shifted = array - 1.0 if is_raw and array.ndim == 1 and "norm" in rest else array
            stored |= {f"{prefix}{place}{key}": value for key, value in _unstacked(architecture, rest, shifted).items()}
    stored = _joined_latents(stored)
    final = given[next(name for name in given if name.endswith(f"{family.trunk}.{family.final}"))]
    less = 1.0 if is_raw else 0.0
    stored[prefix + family.final_norm.format(last=last)] = final - less
    stored[prefix + family.embedding_norm] = before["embedding"] - less
    stored[prefix + family.hidden_norm] = before["hidden"] - less
    stored[prefix + family.projection] = before["projection"]
    return stored


def _unstacked(architecture: str, name: str, array: mx.array) -> dict[str, mx.array]:
    """Experts one by one, where checkpoints have them so."""
    if ".switch_mlp." not in name:
        return {name: array}
    if architecture == "qwen3_5":
        return {name: array}
    if architecture == "qwen3_5_moe":
        return {name.replace("switch_mlp.", "experts."): array}
    base_name, _, kind = name.partition("switch_mlp.")
    kind = kind.replace("fc1", "up_proj").replace("fc2", "down_proj")
    return {f"{base_name}experts.{number}.{kind}": array[number] for number in range(array.shape[0])}


def _joined_latents(stored: dict[str, mx.array]) -> dict[str, mx.array]:
    """What mlx-lm keeps apart of MLA's second projection is one matrix, Qwen3.5's experts have gate and up in one."""
    found = dict(stored)
    for name, array in stored.items():
        if name.endswith("embed_q.weight"):
            values = found.pop(name.replace("embed_q", "unembed_out"))
            del found[name]
            both = mx.concatenate([array.swapaxes(-1, -2), values], 1)
            found[name.replace("embed_q", "kv_b_proj")] = both.reshape(-1, both.shape[-1])
        if name.endswith("experts.gate_proj.weight") and array.ndim == 3:
            up = found.pop(name.replace("gate_proj", "up_proj"))
            del found[name]
            found[name.replace("gate_proj.weight", "gate_up_proj")] = mx.concatenate([array, up], 1)
            found[name.replace("gate_proj.weight", "down_proj")] = found.pop(name.replace("gate_proj", "down_proj"))
    return found


def _publish_trunk(folder: Path, architecture: str) -> None:
    """Give a hybrid's own weights the form that tells of raw checkpoints."""
    path = folder / "model.safetensors"
    weights: dict[str, mx.array] = dict(mx.load(str(path)))  # type: ignore[arg-type]
    for name in list(weights):
        if name.endswith("conv1d.weight"):
            weights[name] = mx.contiguous(weights[name].moveaxis(2, 1))
        if ".switch_mlp." in name and architecture == "qwen3_next":
            weights |= _unstacked(architecture, name, weights.pop(name))
    mx.save_safetensors(str(path), weights)
