"""Tiny random models as directories that load like any other model."""

import json
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten
from mlx_lm.utils import MODEL_REMAPPING
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

from benchmarks.tiny_models import tiny_config, tiny_model

VOCABULARY = 320
SPECIAL_TOKENS = ["<|pad|>", "<|im_start|>", "<|im_end|>"]
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_TEXT = ["the quick brown fox jumps over the lazy dog", "pages are shared and copied when they are written", "0 1 2 3"]
_VOCABULARY_KEYS = {"vocab_size", "vocab_size_per_layer_input"}


def write_tiny_model(folder: Path, architecture: str, seed: int = 0, **options: Any) -> Path:
    """A model of the architecture with random float32 weights, a tokenizer and a chat template, in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    module = MODEL_REMAPPING.get(architecture, architecture)
    config = (
        _with_vocabulary(tiny_config(module))
        | {"eos_token_id": 2, "max_position_embeddings": 512, "model_type": architecture}
        | options
    )
    mx.random.seed(seed)
    weights = dict(tree_flatten(tiny_model(module, config).parameters()))
    mx.save_safetensors(str(folder / "model.safetensors"), weights, metadata={"format": "mlx"})
    (folder / "config.json").write_text(json.dumps(config))
    write_tokenizer(folder)
    return folder


def write_tokenizer(folder: Path) -> None:
    """A byte-level BPE of VOCABULARY entries with the ChatML marks."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_TEXT, trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": "<|im_end|>",
        "pad_token": "<|pad|>",
        "chat_template": CHAT_TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def _with_vocabulary(config: dict[str, Any]) -> dict[str, Any]:
    changed = {key: VOCABULARY if key in _VOCABULARY_KEYS else value for key, value in config.items()}
    if "text_config" in changed:
        changed["text_config"] = _with_vocabulary(changed["text_config"])
    return changed
