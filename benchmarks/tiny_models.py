"""A tiny model with random weights of every architecture in the installed mlx-lm."""

import dataclasses
import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import mlx_lm.models
from mlx.utils import tree_map_with_path

NO_MODELS = {
    "activations", "base", "bitlinear_layers", "cache", "gated_delta", "gear", "mla", "pipeline", "rope_utils", "ssm",
    "switch_layers",
}  # fmt: skip
"""Modules of mlx_lm.models that hold parts, not models."""

LAYERS, HIDDEN, HEADS, KV_HEADS, HEAD_DIM, WINDOW, EXPERTS = 4, 64, 4, 2, 16, 8, 4
VOCABULARY = 96

SMALL: dict[str, Any] = {
    "vocab_size": VOCABULARY, "hidden_size": HIDDEN, "hidden_dim": HIDDEN, "d_model": HIDDEN, "n_embd": HIDDEN,
    "model_dim": HIDDEN, "n_embed": HIDDEN,
    "num_hidden_layers": LAYERS, "num_layers": LAYERS, "n_layers": LAYERS, "n_layer": LAYERS,
    "num_transformer_layers": LAYERS,
    "intermediate_size": 96, "ffn_hidden_size": 96, "n_inner": 96, "intermediate_size_mlp": 96,
    "ff_intermediate_size": 96,
    "num_attention_heads": HEADS, "n_heads": HEADS, "num_heads": HEADS, "n_head": HEADS,
    "num_key_value_heads": KV_HEADS, "n_kv_heads": KV_HEADS, "num_kv_heads": KV_HEADS,
    "multi_query_group_num": KV_HEADS,
    "num_swa_attention_heads": HEADS, "num_swa_key_value_heads": KV_HEADS, "swa_num_attention_heads": HEADS,
    "swa_num_key_value_heads": KV_HEADS,
    "head_dim": HEAD_DIM, "kv_channels": HEAD_DIM, "attention_head_dim": HEAD_DIM, "v_head_dim": HEAD_DIM,
    "swa_head_dim": HEAD_DIM, "swa_v_head_dim": HEAD_DIM, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "rotary_dim": 8,
    "hidden_size_per_head": HEAD_DIM, "head_size": HEAD_DIM,
    "kv_lora_rank": 16, "q_lora_rank": 16, "index_head_dim": 16, "index_n_heads": 2, "index_topk": 8,
    "rms_norm_eps": 1e-5, "norm_eps": 1e-5, "layer_norm_eps": 1e-5, "layer_norm_epsilon": 1e-5,
    "layernorm_epsilon": 1e-5,
    "layernorm_eps": 1e-5, "layer_norm_bias": False, "norm_epsilon": 1e-5,
    "rope_theta": 10000.0, "rope_base": 10000.0, "swa_rope_theta": 10000.0, "rope_scaling": None, "rope_pct": 0.25,
    "rope_traditional": False, "rotary_pct": 0.25, "partial_rotary_factor": 0.5,
    "max_position_embeddings": 512, "n_positions": 512, "n_ctx": 512, "block_size": 512, "max_seq_len": 512,
    "model_max_length": 512, "seq_length": 512, "max_context_length": 512, "max_window_layers": LAYERS,
    "attention_bias": False, "mlp_bias": False, "use_bias": False, "qkv_bias": False, "tie_word_embeddings": False,
    "use_qkv_bias": False, "use_qk_norm": True, "qk_norm": True, "add_bias_linear": False, "add_qkv_bias": True,
    "no_bias": True, "post_norm": False,
    "sliding_window": WINDOW, "sliding_window_size": WINDOW, "attention_window_size": WINDOW, "window_size": WINDOW,
    "sliding_window_pattern": 2, "loop_window_size": WINDOW, "conv_window": 2,
    "num_experts": EXPERTS, "n_routed_experts": EXPERTS, "num_local_experts": EXPERTS, "moe_num_experts": EXPERTS,
    "num_experts_per_tok": 2, "num_experts_per_token": 2, "moe_k": 2, "moe_topk": 2, "n_shared_experts": 1,
    "num_shared_experts": 1, "moe_num_shared_experts": 1, "shared_expert_intermediate_size": 32,
    "moe_intermediate_size": 32, "expert_ffn_hidden_size": 32, "shared_intermediate_size": 32,
    "moe_shared_expert_intermediate_size": 32, "zero_expert_num": 1, "n_group": 1, "topk_group": 1,
    "num_expert_group": 1,
    "moe_layer_freq": 1, "first_k_dense_replace": 1, "decoder_sparse_step": 1, "mlp_only_layers": [],
    "norm_topk_prob": True, "routed_scaling_factor": 1.0, "topk_method": "noaux_tc", "scoring_func": "sigmoid",
    "layer_group_size": 2, "group_norm_size": 1, "num_dense_layers": 1, "num_nextn_predict_layers": 0,
    "ssm_state_size": 16, "state_size": 16, "conv_kernel": 4, "n_groups": 1, "time_step_rank": 4, "mamba_num_heads": 4,
    "mamba_head_dim": 16, "mamba_proj_bias": False, "mamba_d_conv": 4, "mamba_d_state": 16, "mamba_expand": 2,
    "mamba_n_heads": 8, "mamba_d_head": 16, "mamba_n_groups": 1, "mamba_d_ssm": 128, "mamba_dt_rank": 4,
    "mamba_conv_bias": True, "mamba_step": 2, "mamba_rms_norm": True, "mamba_norm_before_gate": False,
    "use_conv_bias": True, "use_bcdt_rms": False, "time_step_limit": [0.0, float("inf")], "d_conv": 4, "dt_rank": 4,
    "linear_num_value_heads": 4, "linear_num_key_heads": 2, "linear_key_head_dim": 16, "linear_value_head_dim": 16,
    "linear_conv_kernel_dim": 4, "full_attention_interval": 2, "conv_bias": False, "conv_L_cache": 3,
    "block_dim": HIDDEN, "block_multiple_of": 8, "block_ffn_dim_multiplier": 1.0, "block_auto_adjust_ff_dim": False,
    "use_expert_bias": True, "short_conv_kernel_size": 4, "lru_width": HIDDEN, "conv1d_width": 4,
    "logits_soft_cap": 30.0, "embeddings_scale_by_sqrt_dim": True,
    "logit_scale": 1.0, "logits_scaling": 1.0, "attention_multiplier": 0.25, "embedding_multiplier": 1.0,
    "residual_multiplier": 1.0, "scale_depth": 1.4, "scale_emb": 1.0, "dim_model_base": HIDDEN,
    "mla_scale_q_lora": True, "mla_scale_kv_lora": True, "attention_method": "MLA", "zero_expert_type": "identity",
    "hidden_act": "silu", "hidden_activation": "silu",
}  # fmt: skip
"""Small values by the name of a configuration field."""

_KINDS = ["sliding_attention", "full_attention"] * (LAYERS // 2)

_ROPE = {"rope_type": "default", "rope_theta": 10000.0}
_YARN = {
    "rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 128,
    "beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0,
}  # fmt: skip
_LLAMA4_ROPE = _YARN | {"llama_4_scaling_beta": 0.1}
_MAMBA_KINDS = ["mamba", "attention"] * (LAYERS // 2)

SPECIAL: dict[str, dict[str, Any]] = {
    "afm7": {"num_kv_reuse_layers": 2},
    "afmoe": {"layer_types": _KINDS},
    "baichuan_m1": {"sliding_window_layers": [1, 3], "num_swa_attention_heads": HEADS,
    "num_swa_key_value_heads": KV_HEADS},
    "bailing_moe_v3": {"moe_shared_expert_intermediate_size": 32},
    "dbrx": {
        "ffn_config": {"ffn_hidden_size": 96, "moe_num_experts": EXPERTS, "moe_top_k": 2},
        "attn_config": {"kv_n_heads": KV_HEADS, "clip_qkv": 8.0, "rope_theta": 10000.0},
    },
    "deepseek_v2": {"rope_scaling": _YARN | {"type": "yarn"}, "topk_method": "greedy"},
    "exaone4": {"sliding_window_pattern": "LG", "rope_scaling": {"rope_type": "default"}},
    "exaone_moe": {"layer_types": _KINDS, "is_moe_layer": [False, True, True, True]},
    "gemma4_text": {
        "global_head_dim": 32, "num_global_key_value_heads": 1, "num_kv_shared_layers": 2, "layer_types": _KINDS,
        "vocab_size_per_layer_input": VOCABULARY, "hidden_size_per_layer_input": 8,
    },
    "glm_moe_dsa": {"rope_parameters": _ROPE},
    "gpt_neox": {"rotary_emb_base": 10000},
    "granitemoehybrid": {"layer_types": _MAMBA_KINDS, "num_local_experts": EXPERTS, "num_experts_per_tok": 2,
        "shared_intermediate_size": 32, "mamba_n_heads": 8, "mamba_d_head": 16, "mamba_proj_bias": False,
        "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_n_groups": 1, "mamba_conv_bias": True},
    "hunyuan": {"num_shared_expert": [1] * LAYERS, "use_mixed_mlp_moe": True, "use_cla": True, "cla_share_factor": 2,
        "moe_topk": [2] * LAYERS, "moe_intermediate_size": [32] * LAYERS,
        "rope_scaling": {"type": "dynamic", "factor": 1.0, "alpha": 1000.0}},
    "jamba": {"attn_layer_offset": 1, "attn_layer_period": 2, "expert_layer_offset": 1, "expert_layer_period": 2},
    "kimi_linear": {
        "linear_attn_config": {"kda_layers": [1, 3], "num_heads": 4, "head_dim": 16, "short_conv_kernel_size": 4},
        "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 16,
    },
    "lfm2": {"block_ff_dim": 96, "full_attn_idxs": [1, 3]},
    "lfm2_moe": {"full_attn_idxs": [1, 3]},
    "llama4_text": {"no_rope_layers": [1, 1, 1, 0]},
    "mamba2": {"num_heads": 8},
    "mellum": {"layer_types": _KINDS, "rope_parameters": {"sliding_attention": _ROPE, "full_attention": _ROPE}},
    "mimo_v2_flash": {
        "hybrid_layer_pattern": [1, 0, 1, 0], "add_swa_attention_sink_bias": True,
        "add_full_attention_sink_bias": False,
        "moe_layer_freq": [0, 1, 1, 1],
    },
    "minicpm3": {"rope_scaling": {"type": "longrope", "original_max_position_embeddings": 128,
        "short_factor": [1.0, 1.1, 1.2, 1.3], "long_factor": [1.5, 1.6, 1.7, 1.8]}},
    "ministral3": {"rope_parameters": _LLAMA4_ROPE, "layer_types": _KINDS, "sliding_window": WINDOW},
    "mistral4": {"rope_parameters": _LLAMA4_ROPE},
    "nemotron-nas": {"block_configs": [{"attention": {"n_heads_in_group": 2}, "ffn": {"ffn_mult": 1.0}}] * LAYERS},
    "nemotron_h": {"hybrid_override_pattern": "M*-M", "head_dim": HEAD_DIM},
    "olmo_hybrid": {"linear_allow_neg_eigval": True, "layer_types": ["linear_attention", "full_attention"] * 2},
    "openelm": {"ffn_dim_divisor": 8, "num_query_heads": [HEADS] * LAYERS, "ffn_multipliers": [1.0] * LAYERS,
        "num_kv_heads": [KV_HEADS] * LAYERS},
    "phi3small": {"dense_attention_every_n_layers": 2, "gegelu_limit": 20.0},
    "plamo": {"n_shared_head": 2},
    "qwen3": {"rope_theta": 10000.0},
    "recurrent_gemma": {"block_types": ["recurrent", "attention"]},
    "rwkv7": {"a_low_rank_dim": 8, "v_low_rank_dim": 8, "gate_low_rank_dim": 8, "decay_low_rank_dim": 8},
    "spark2_5": {
        "rope_parameters": {"sliding_attention": _ROPE, "full_attention": _ROPE}, "layer_types": _KINDS,
    },
    "step3p5": {"num_attention_groups": KV_HEADS, "moe_num_experts": EXPERTS, "moe_top_k": 2},
}  # fmt: skip
"""What single architectures need besides."""

TEXT: dict[str, tuple[str, str]] = {
    "gemma3": ("gemma3_text", "ModelArgs"), "gemma3n": ("gemma3n", "TextConfig"), "gemma4": ("gemma4_text",
    "ModelArgs"),
    "kimi_k25": ("deepseek_v3", "ModelArgs"), "kimi_k3": ("kimi_k3", "TextArgs"), "kimi_vl": ("kimi_vl", "TextArgs"),
    "lfm2-vl": ("lfm2", "ModelArgs"), "llama4": ("llama4", "TextArgs"), "minimax_m3_vl": ("minimax_m3_vl", "TextArgs"),
    "mistral3": ("ministral3", "ModelArgs"), "muse_spark": ("muse_spark", "TextArgs"), "pixtral": ("llama",
    "ModelArgs"),
    "qwen2_vl": ("qwen2", "ModelArgs"), "qwen3_5": ("qwen3_5", "TextModelArgs"), "qwen3_5_moe": ("qwen3_5",
    "TextModelArgs"),
    "qwen3_vl": ("qwen3", "ModelArgs"), "qwen3_vl_moe": ("qwen3_moe", "ModelArgs"),
    "prism_hadamard_qwen35": ("qwen3_5", "TextModelArgs"),
}  # fmt: skip
"""Multimodal architectures: where the configuration of their text part is defined."""

TEXT_SPECIAL: dict[str, dict[str, Any]] = {
    "gemma3n": {
        "layer_types": _KINDS, "num_kv_shared_layers": 2, "vocab_size_per_layer_input": VOCABULARY,
        "rope_local_base_freq": 10000.0, "final_logit_softcapping": 30.0, "activation_sparsity_pattern": [0.5, 0, 0, 0],
        "hidden_size_per_layer_input": 8, "altup_num_inputs": 2, "altup_coef_clip": 120.0, "altup_correct_scale": True,
        "altup_active_idx": 0, "laurel_rank": 8,
    },
    "llama4": {"num_experts_per_tok": 1, "attention_chunk_size": 16, "interleave_moe_layer_step": 2,
    "attn_temperature_tuning": 4,
        "floor_scale": 16, "attn_scale": 0.1},
    "qwen3_5_moe": {"num_experts": EXPERTS},
}  # fmt: skip


def architectures() -> list[str]:
    """Names of the modules in the installed mlx-lm that define a model."""
    names = (module.name for module in pkgutil.iter_modules(mlx_lm.models.__path__))
    return sorted(name for name in names if name not in NO_MODELS)


def tiny_config(architecture: str) -> dict[str, Any]:
    """A configuration of the architecture, as its config.json would hold it. Raises LookupError when one is unknown."""
    special = dict(SPECIAL.get(architecture, {}))
    if architecture in TEXT:
        module, arguments = TEXT[architecture]
        inner = TEXT_SPECIAL.get(architecture, SPECIAL.get(module, {}))
        text = _filled(module, arguments, module, inner)
        special["text_config"] = text | {"model_type": text["model_type"] if module != architecture else architecture}
    return _filled(architecture, "ModelArgs", architecture, special)


def _filled(module: str, arguments: str, model_type: str, special: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with small values for the fields of `arguments`, a dataclass of a module of mlx-lm."""
    config: dict[str, Any] = {"model_type": model_type}
    unknown: list[str] = []
    for field in dataclasses.fields(getattr(importlib.import_module(f"mlx_lm.models.{module}"), arguments)):
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if field.name in special or field.name == "model_type":
            continue
        if field.name in SMALL and (required or _is_sized(field.default)):
            config[field.name] = SMALL[field.name]
        elif required:
            unknown.append(field.name)
    if unknown:
        raise LookupError(f"{module}: no small value for {', '.join(unknown)}")
    return config | dict(special)


def _is_sized(default: Any) -> bool:
    """Whether a default is a size to be shrunk; flags and absent options stay as they are."""
    return isinstance(default, (int, float)) and not isinstance(default, bool)


def tiny_model(architecture: str, config: Mapping[str, Any] | None = None) -> nn.Module:
    """A model of the architecture in float32 with weights from the global random state, large enough to matter."""
    module = importlib.import_module(f"mlx_lm.models.{architecture}")
    model = module.Model(module.ModelArgs.from_dict(dict(config or tiny_config(architecture))))
    model.update(tree_map_with_path(_randomised, model.parameters()))
    model.eval()
    mx.eval(model.parameters())
    return model


def _randomised(path: str, array: mx.array) -> mx.array:
    """Norms and biases keep their meaning; matrices get entries that make attention sharp."""
    if not mx.issubdtype(array.dtype, mx.floating):
        return array
    if array.ndim < 2:
        return (array + 0.1 * mx.random.normal(array.shape)).astype(mx.float32)
    return mx.random.normal(array.shape) * (1.5 / array.shape[-1] ** 0.5)
