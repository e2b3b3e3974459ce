"""How each family of models stores its draft head."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pie_mlx.errors import ModelLoadError


@dataclass(frozen=True)
class HeadFamily:
    """The names of a head's tensors, all behind `prefix`; {layers} is the number of the model's own layers.

    `layers` matches those of its layers: the number of the layer, 0 without one, and the name inside. `settings` make
    a model of the head's layers alone of the model's configuration. With `hidden_first` the projection reads the hidden
    state before the embedding. Raw checkpoints store the norms `less_one` so, and those of layers that end with
    `layers_less_one`, unless the family's own `sanitize` sees to these. `trunk` and `final` are names in its models.
    """

    prefix: str
    layers: str
    embedding_norm: str
    hidden_norm: str
    projection: str
    final_norm: str
    settings: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    hidden_first: bool = False
    less_one: tuple[str, ...] = ()
    layers_less_one: tuple[str, ...] = ()
    trunk: str = "model"
    final: str = "norm.weight"
    pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pattern", re.compile(self.layers))


def _one_attention_layer(_: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first layer is one of full attention, with experts where there are any."""
    return {
        "num_hidden_layers": 1,
        "full_attention_interval": 1,
        "mlp_only_layers": [],
        "decoder_sparse_step": 1,
        "first_k_dense_replace": 0,
        "layer_types": ["full_attention"],
    }


def _own_pattern(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Nemotron's head is a row of layers as its model is."""
    pattern = config.get("mtp_hybrid_override_pattern") or config.get("mtp_layers_block_type")
    if not pattern or not set(pattern) <= set("*E-"):
        raise ModelLoadError(
            f"draft head: its layers are {pattern!r}", hint="this version knows attention, experts and plain layers"
        )
    return {"hybrid_override_pattern": list(pattern), "layers_block_type": None, "num_hidden_layers": len(pattern)}


_QWEN_NORMS = ("pre_fc_norm_embedding.weight", "pre_fc_norm_hidden.weight")
_QWEN_LAYER_NORMS = ("input_layernorm.weight", "post_attention_layernorm.weight", "q_norm.weight", "k_norm.weight")


def _qwen(less_one: tuple[str, ...] = (), layers_less_one: tuple[str, ...] = ()) -> HeadFamily:
    return HeadFamily(
        prefix="mtp.",
        layers=r"layers\.(\d+)\.(.+)",
        embedding_norm="pre_fc_norm_embedding.weight",
        hidden_norm="pre_fc_norm_hidden.weight",
        projection="fc.weight",
        final_norm="norm.weight",
        settings=_one_attention_layer,
        less_one=less_one,
        layers_less_one=layers_less_one,
    )


_QWEN3_5 = _qwen((*_QWEN_NORMS, "norm.weight"), _QWEN_LAYER_NORMS)
_DEEPSEEK = HeadFamily(
    prefix="model.layers.{layers}.",
    layers=r"()((?:self_attn|mlp|input_layernorm|post_attention_layernorm)\..+)",
    embedding_norm="enorm.weight",
    hidden_norm="hnorm.weight",
    projection="eh_proj.weight",
    final_norm="shared_head.norm.weight",
    settings=_one_attention_layer,
)

FAMILIES: Mapping[str, HeadFamily] = {
    "deepseek_v3": _DEEPSEEK,
    "glm4_moe": _DEEPSEEK,
    "glm4_moe_lite": _DEEPSEEK,
    "mimo": HeadFamily(
        prefix="model.mtp_layers.0.",
        layers=r"()((?:self_attn|mlp|input_layernorm|post_attention_layernorm)\..+)",
        embedding_norm="token_layernorm.weight",
        hidden_norm="hidden_layernorm.weight",
        projection="input_proj.weight",
        final_norm="final_layernorm.weight",
        settings=_one_attention_layer,
        hidden_first=True,
    ),
    "nemotron_h": HeadFamily(
        prefix="mtp.layers.",
        layers=r"(\d+)\.((?:norm|mixer)\..+)",
        embedding_norm="0.enorm.weight",
        hidden_norm="0.hnorm.weight",
        projection="0.eh_proj.weight",
        final_norm="{last}.final_layernorm.weight",
        settings=_own_pattern,
        trunk="backbone",
        final="norm_f.weight",
    ),
    "qwen3": _qwen(),
    "qwen3_5": _QWEN3_5,
    "qwen3_5_moe": _QWEN3_5,
    "qwen3_next": _qwen(_QWEN_NORMS),
}
"""By mlx-lm's module. Qwen3 has none of its own: pie-tiny's is stored as Qwen3.5's are."""
