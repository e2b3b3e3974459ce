"""Hybrids with random weights, at sizes at which their layers matter more than the overhead of each operation."""

import json
import shutil
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten

from benchmarks.random_llama import EMBEDDED
from benchmarks.tiny_models import tiny_config, tiny_model

SIZES: dict[str, dict[str, Any]] = {
    "qwen3_next": {
        "hidden_size": 320, "num_hidden_layers": 8, "full_attention_interval": 4, "head_dim": 64, "num_experts": 8,
        "moe_intermediate_size": 256, "shared_expert_intermediate_size": 256, "linear_num_key_heads": 4,
        "linear_num_value_heads": 4, "linear_key_head_dim": 64, "linear_value_head_dim": 64,
    },
    "lfm2": {
        "hidden_size": 320, "num_hidden_layers": 8, "full_attn_idxs": [3, 7], "block_dim": 320, "block_ff_dim": 864,
        "num_attention_heads": 5, "num_key_value_heads": 5,
    },
}  # fmt: skip
"""By architecture, what its smallest configuration lacks."""

_COMMON = {"vocab_size": 8000, "max_position_embeddings": 4096, "eos_token_id": 0}
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")


def write_random_hybrid(directory: Path, architecture: str) -> str:
    """Write config, float32 weights and pie-tiny's tokenizer; answers what it is."""
    config = tiny_config(architecture) | _COMMON | SIZES[architecture]
    mx.random.seed(0)
    weights = dict(tree_flatten(tiny_model(architecture, config).parameters()))
    mx.save_safetensors(str(directory / "model.safetensors"), weights, metadata={"format": "mlx"})
    (directory / "config.json").write_text(json.dumps(config))
    for name in _TOKENIZER_FILES:
        shutil.copy(EMBEDDED / name, directory / name)
    return f"{sum(array.size for array in weights.values()) / 1e6:.1f}M-parameter random {architecture}"
