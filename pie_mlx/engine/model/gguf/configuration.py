"""config.json, as mlx-lm reads it, from the metadata of a GGUF file."""

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from pie_mlx.engine.model.gguf.blocks import floats_of
from pie_mlx.engine.model.gguf.header import GgufModel

Config = dict[str, Any]


class Facts:
    """Typed access to the metadata of one model: keys are without the architecture before them."""

    def __init__(self, model: GgufModel) -> None:
        self.model = model

    def integer(self, key: str, default: int | None = None) -> int:
        return self.model.value(f"{self.model.architecture}.{key}", int, default)

    def real(self, key: str, default: float | None = None) -> float:
        return self.model.value(f"{self.model.architecture}.{key}", float, default)

    def text(self, key: str, default: str) -> str:
        return self.model.value(f"{self.model.architecture}.{key}", str, default)

    def raw(self, key: str) -> Any:
        return self.model.metadata.get(f"{self.model.architecture}.{key}")

    def has(self, tensor: str) -> bool:
        return tensor in self.model.tensors

    def alike(self, key: str) -> int:
        """A number that files may give per layer, but that mlx-lm has once. Raises ModelLoadError."""
        if isinstance(found := self.raw(key), list):
            numbers = cast("list[Any]", found)
            if len(set(numbers)) != 1 or type(numbers[0]) is not int:
                raise self.model.refused(f"its {key} differs between layers, and mlx-lm has it once")
            return numbers[0]
        return self.integer(key)


def configuration(model: GgufModel) -> Config:
    """The configuration, without quantisation and token ids. Raises ModelLoadError for an architecture not read."""
    facts = Facts(model)
    architecture = model.architecture
    if architecture not in _ARCHITECTURES:
        raise model.refused(
            f"the architecture {architecture!r:.40} is not read from GGUF (it can be: {', '.join(_ARCHITECTURES)})",
            "fetch the same model as MLX weights",
        )
    name, more = _ARCHITECTURES[architecture]
    return {"model_type": name, **_common(facts), **more(facts)}


def _common(facts: Facts) -> Config:
    width, heads = facts.integer("embedding_length"), facts.alike("attention.head_count")
    if "token_embd.weight" not in facts.model.tensors:
        raise facts.model.refused("it has no tensor token_embd.weight")
    if min(width, heads) < 1:
        raise facts.model.refused(f"its width is {width}, of {heads} heads")
    found = {
        "hidden_size": width,
        "num_hidden_layers": facts.integer("block_count"),
        "intermediate_size": facts.alike("feed_forward_length") if facts.raw("feed_forward_length") else width,
        "num_attention_heads": heads,
        "num_key_value_heads": facts.alike("attention.head_count_kv")
        if facts.raw("attention.head_count_kv")
        else heads,
        "head_dim": facts.integer("attention.key_length", width // heads),
        "rms_norm_eps": facts.real("attention.layer_norm_rms_epsilon"),
        "vocab_size": facts.model.tensors["token_embd.weight"].shape[0],
        "max_position_embeddings": facts.integer("context_length"),
        "rope_theta": facts.real("rope.freq_base", 10_000.0),
        "tie_word_embeddings": not facts.has("output.weight"),
        "attention_bias": facts.has("blk.0.attn_q.bias"),
        "mlp_bias": facts.has("blk.0.ffn_up.bias"),
    }
    scaling = _rope_scaling(facts, found)
    return found | ({"rope_scaling": scaling} if scaling else {})


def _rope_scaling(facts: Facts, config: Config) -> Config | None:
    if facts.has("rope_freqs.weight"):
        return _llama3_scaling(facts, config)
    kind, factor = facts.text("rope.scaling.type", "none"), facts.real("rope.scaling.factor", 1.0)
    if kind == "linear" and factor != 1:
        return {"type": kind, "factor": factor}
    if kind == "yarn":
        return {
            "type": kind,
            "factor": factor,
            "original_max_position_embeddings": facts.integer("rope.scaling.original_context_length"),
            "beta_fast": facts.real("rope.scaling.yarn_beta_fast", 32.0),
            "beta_slow": facts.real("rope.scaling.yarn_beta_slow", 1.0),
        }
    return None


def _llama3_scaling(facts: Facts, config: Config) -> Config:
    """Llama 3's settings, if they make the factors that the file holds. Raises ModelLoadError otherwise."""
    held = floats_of(facts.model.tensors["rope_freqs.weight"]).reshape(-1)
    scaling = {
        "rope_type": "llama3",
        "factor": float(held.max()),
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    }
    made = llama3_factors(config["rope_theta"], len(held) * 2, scaling)
    if not np.allclose(held, made, rtol=1e-3):
        raise facts.model.refused(
            "its rope_freqs are not those of Llama 3, and mlx-lm has no others", "fetch the same model as MLX weights"
        )
    return scaling


def llama3_factors(base: float, dimensions: int, scaling: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """What each frequency is divided by."""
    length, factor = scaling["original_max_position_embeddings"], scaling["factor"]
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    waves = 2 * np.pi * base ** (np.arange(0, dimensions, 2) / dimensions)
    smooth = np.clip((length / waves - low) / (high - low), 0, 1)
    return 1 / ((1 - smooth) / factor + smooth)


def _nothing(facts: Facts) -> Config:
    del facts
    return {}


def _llama(facts: Facts) -> Config:
    if facts.integer("expert_count", 0):
        raise facts.model.refused("a llama of experts is not read from GGUF", "fetch the same model as MLX weights")
    return {}


def _experts(facts: Facts) -> Config:
    return {
        "num_experts": facts.integer("expert_count"),
        "num_experts_per_tok": facts.integer("expert_used_count"),
        "moe_intermediate_size": facts.model.tensors["blk.0.ffn_up_exps.weight"].shape[1]
        if facts.has("blk.0.ffn_up_exps.weight")
        else facts.integer("expert_feed_forward_length"),
    }


def _qwen2_moe(facts: Facts) -> Config:
    shared = facts.integer("expert_shared_feed_forward_length", facts.alike("feed_forward_length"))
    return {**_experts(facts), "shared_expert_intermediate_size": shared}


def _qwen3_moe(facts: Facts) -> Config:
    return {**_experts(facts), "decoder_sparse_step": 1, "mlp_only_layers": [], "norm_topk_prob": True}


def _query_scalar(facts: Facts, layers_of_27b: int) -> float:
    """Not in the file: what divides the queries' square is the width of a head, but in the model of 27 billion."""
    if facts.integer("block_count") == layers_of_27b:
        return facts.integer("embedding_length") / facts.alike("attention.head_count")
    return facts.integer("attention.key_length")


def _gemma2(facts: Facts) -> Config:
    return {
        "attn_logit_softcapping": facts.real("attn_logit_softcapping", 50.0),
        "final_logit_softcapping": facts.real("final_logit_softcapping", 30.0),
        "query_pre_attn_scalar": _query_scalar(facts, 46),
        "sliding_window": facts.integer("attention.sliding_window", 4096),
    }


def _gemma3(facts: Facts) -> Config:
    return {
        "sliding_window": facts.integer("attention.sliding_window"),
        "sliding_window_pattern": _period(facts, 6),
        "rope_theta": facts.real("rope.freq_base", 1_000_000.0),
        "rope_local_base_freq": facts.real("rope.freq_base_swa", 10_000.0),
        "query_pre_attn_scalar": _query_scalar(facts, 62),
    }


def _period(facts: Facts, default: int) -> int:
    """Every how many layers one sees all. Raises ModelLoadError for a pattern without a period."""
    if not isinstance(found := facts.raw("attention.sliding_window_pattern"), list):
        return facts.integer("attention.sliding_window_pattern", default)
    pattern = cast("list[Any]", found)
    period = pattern.index(False) + 1 if False in pattern else len(pattern) + 1
    if any(slides is (place % period == period - 1) for place, slides in enumerate(pattern)):
        raise facts.model.refused("its sliding_window_pattern has no period, and mlx-lm has no other")
    return period


def _phi3(facts: Facts) -> Config:
    head = facts.integer("embedding_length") // facts.alike("attention.head_count")
    original = facts.integer("rope.scaling.original_context_length", facts.integer("context_length"))
    found: Config = {
        "partial_rotary_factor": facts.integer("rope.dimension_count", head) / head,
        "original_max_position_embeddings": original,
    }
    if facts.has("rope_factors_long.weight"):
        long, short = (floats_of(facts.model.tensors[f"rope_factors_{one}.weight"]) for one in ("long", "short"))
        found["rope_scaling"] = {
            "type": "longrope",
            "long_factor": long.reshape(-1).tolist(),
            "short_factor": short.reshape(-1).tolist(),
        }
    return found


def _granite(facts: Facts) -> Config:
    return {
        "attention_multiplier": facts.real("attention.scale"),
        "embedding_multiplier": facts.real("embedding_scale"),
        "residual_multiplier": facts.real("residual_scale"),
        "logits_scaling": facts.real("logit_scale"),
    }


def _gpt_oss(facts: Facts) -> Config:
    return {
        "num_local_experts": facts.integer("expert_count"),
        "num_experts_per_tok": facts.integer("expert_used_count"),
        "intermediate_size": facts.integer("expert_feed_forward_length"),
        "sliding_window": facts.integer("attention.sliding_window"),
        "layer_types": [
            "full_attention" if layer % 2 else "sliding_attention" for layer in range(facts.integer("block_count"))
        ],
    }


_ARCHITECTURES: dict[str, tuple[str, Callable[[Facts], Config]]] = {
    "llama": ("llama", _llama),
    "qwen2": ("qwen2", _nothing),
    "qwen2moe": ("qwen2_moe", _qwen2_moe),
    "qwen3": ("qwen3", _nothing),
    "qwen3moe": ("qwen3_moe", _qwen3_moe),
    "gemma": ("gemma", _nothing),
    "gemma2": ("gemma2", _gemma2),
    "gemma3": ("gemma3_text", _gemma3),
    "phi3": ("phi3", _phi3),
    "smollm3": ("smollm3", _nothing),
    "granite": ("granite", _granite),
    "gpt-oss": ("gpt_oss", _gpt_oss),
}
"""GGUF's names of the architectures that are read, mlx-lm's modules, and what else their configurations have."""

ARCHITECTURES = tuple(_ARCHITECTURES)
