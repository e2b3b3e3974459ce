"""GGUF files of tiny models, written by the gguf package from directories that mlx-lm loads."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import mlx.core as mx
import numpy as np

ARCHITECTURES = {
    "llama": "llama",
    "mistral": "llama",
    "qwen2": "qwen2",
    "qwen2_moe": "qwen2moe",
    "qwen3": "qwen3",
    "qwen3_moe": "qwen3moe",
    "gemma": "gemma",
    "gemma2": "gemma2",
    "gemma3_text": "gemma3",
    "phi3": "phi3",
    "smollm3": "smollm3",
    "granite": "granite",
    "gpt_oss": "gpt-oss",
}
"""mlx-lm's names and GGUF's."""
PAIRWISE = {"llama", "smollm3", "granite"}

Changed = Callable[[gguf.GGUFWriter], object]


def write_gguf(model: Path, file: Path, kind: str = "F32", change: Changed = lambda _: None) -> Path:
    """The model of a directory as a GGUF file with matrices of `kind`; `change` may add to it."""
    config = json.loads((model / "config.json").read_text())
    architecture = ARCHITECTURES[config["model_type"]]
    writer = gguf.GGUFWriter(file, architecture)
    _write_settings(writer, config)
    _write_bytes_vocabulary(writer, model)
    for name, value in mx.load(str(model / "model.safetensors")).items():
        _write_tensor(writer, architecture, config, name, np.array(value), kind)
    change(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def _write_settings(writer: gguf.GGUFWriter, config: dict[str, Any]) -> None:
    heads = config["num_attention_heads"]
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(config.get("num_key_value_heads", heads))
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config.get("rope_theta", 10000.0))
    head = config.get("head_dim", config["hidden_size"] // heads)
    writer.add_key_length(head)
    writer.add_rope_dimension_count(int(head * config.get("partial_rotary_factor", 1)))
    optional = {
        "num_experts": writer.add_expert_count,
        "num_local_experts": writer.add_expert_count,
        "num_experts_per_tok": writer.add_expert_used_count,
        "moe_intermediate_size": writer.add_expert_feed_forward_length,
        "shared_expert_intermediate_size": writer.add_expert_shared_feed_forward_length,
        "sliding_window": writer.add_sliding_window,
        "attention_multiplier": writer.add_attention_scale,
        "embedding_multiplier": writer.add_embedding_scale,
        "residual_multiplier": writer.add_residual_scale,
        "logits_scaling": writer.add_logit_scale,
    }
    for key, add in optional.items():
        if key in config:
            add(config[key])
    if config["model_type"] == "gpt_oss":
        writer.add_expert_feed_forward_length(config["intermediate_size"])
    if "sliding_window_pattern" in config:
        writer.add_uint32(f"{writer.arch}.attention.sliding_window_pattern", config["sliding_window_pattern"])


def _write_bytes_vocabulary(writer: gguf.GGUFWriter, model: Path) -> None:
    document = json.loads((model / "tokenizer.json").read_text())
    settings = json.loads((model / "tokenizer_config.json").read_text())
    ids = document["model"]["vocab"]
    special = {one["content"] for one in document["added_tokens"]}
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(list(ids))
    writer.add_token_types([3 if token in special else 1 for token in ids])
    writer.add_token_merges([" ".join(pair) for pair in document["model"]["merges"]])
    writer.add_eos_token_id(ids[settings["eos_token"]])
    writer.add_pad_token_id(ids[settings["pad_token"]])
    writer.add_chat_template(settings["chat_template"])


def _write_tensor(
    writer: gguf.GGUFWriter,
    architecture: str,
    config: dict[str, Any],
    name: str,
    value: np.ndarray[Any, Any],
    kind: str,
) -> None:
    number = next(one for one, text in gguf.MODEL_ARCH_NAMES.items() if text == architecture)
    names = gguf.get_tensor_name_map(number, config["num_hidden_layers"])
    stored = names.get_name(name.replace("switch_mlp", "experts"), try_suffixes=(".weight", ".bias"))
    assert stored is not None
    heads = config["num_attention_heads"]
    if architecture in PAIRWISE and (".q_proj." in name or ".k_proj." in name):
        count = heads if ".q_proj." in name else config.get("num_key_value_heads", heads)
        halves = value.reshape(count, 2, value.shape[0] // count // 2, *value.shape[1:])
        value = halves.swapaxes(1, 2).reshape(value.shape)
    if architecture.startswith("gemma") and name.endswith("norm.weight"):
        value = value + 1
    stored = stored if stored.endswith((".weight", ".bias")) else f"{stored}.weight"
    quantised = kind != "F32" and value.ndim > 1 and "gate_inp" not in stored
    type_ = gguf.GGMLQuantizationType[kind if quantised else "F32"]
    data = np.ascontiguousarray(value, np.float32)
    writer.add_tensor(
        stored, gguf.quants.quantize(data, type_) if quantised else data, raw_dtype=type_ if quantised else None
    )
