"""A Llama with random weights in a directory, as benchmarks and their peers load it."""

import json
import shutil
from pathlib import Path

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten
from mlx_lm.models import llama

EMBEDDED = Path(__file__).resolve().parent.parent / "pie_mlx" / "engine" / "model" / "embedded" / "pie-tiny"

CONFIG: dict[str, int] = {
    "hidden_size": 320,
    "num_hidden_layers": 6,
    "intermediate_size": 864,
    "num_attention_heads": 5,
    "num_key_value_heads": 5,
    "head_dim": 64,
    "vocab_size": 8000,
    "max_position_embeddings": 4096,
    "eos_token_id": 0,
}
"""About 9.4 million parameters."""


def write_random_llama(directory: Path, *, seed: int = 0, **changes: object) -> None:
    """Write config, float32 weights and pie-tiny's tokenizer; `changes` override the configuration."""
    fixed = {"model_type": "llama", "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": True}
    config = {**fixed, **CONFIG, **changes}
    mx.random.seed(seed)
    model: nn.Module = llama.Model(llama.ModelArgs.from_dict(config))
    weights = dict(tree_flatten(model.parameters()))
    mx.save_safetensors(str(directory / "model.safetensors"), weights, metadata={"format": "mlx"})
    (directory / "config.json").write_text(json.dumps(config))
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        shutil.copy(EMBEDDED / name, directory / name)
