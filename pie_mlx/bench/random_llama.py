"""Write a Llama with random weights to a directory that both sides can load."""

import json
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import mlx.core as mx

from pie_mlx.engine.model.loading.sources import EMBEDDED
from pie_mlx.engine.model.mlx_lm.modules import Module, parameters_of

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

DESCRIPTION = "9.4M-parameter random Llama"
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")


def write_random_llama(directory: Path, *, seed: int = 0, **changes: object) -> None:
    """Write config, float32 weights and pie-tiny's tokenizer; `changes` override the configuration."""
    fixed = {"model_type": "llama", "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": True}
    config = {**fixed, **CONFIG, **changes}
    save = cast("Any", mx).save_safetensors
    llama = cast("Any", import_module("mlx_lm.models.llama"))
    mx.random.seed(seed)
    model = cast("Module", llama.Model(llama.ModelArgs.from_dict(config)))
    save(str(directory / "model.safetensors"), dict(parameters_of(model)), metadata={"format": "mlx"})
    (directory / "config.json").write_text(json.dumps(config))
    for name in _TOKENIZER_FILES:
        shutil.copy(EMBEDDED / "pie-tiny" / name, directory / name)
