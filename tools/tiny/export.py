"""Writes a checkpoint as the model directory that ships, in float16.

    python -m tools.tiny.export --checkpoint /tmp/tiny/checkpoint.pt
    python -m tools.tiny.export --checkpoint /tmp/tiny/checkpoint.pt --verify reference.npz

The second form also writes tokens and float32 logits of the exported weights as computed by PyTorch, which
`tools.tiny.verify` compares with mlx-lm (the two need not be installed in one environment).
"""

import argparse
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer

from tools.tiny.chat import TEMPLATE, render
from tools.tiny.model import TinyConfig, TinyModel
from tools.tiny.text import make_sample
from tools.tiny.train import TOKENIZER

SHIPPED = Path(__file__).parents[2] / "pie_mlx" / "engine" / "model" / "embedded" / "pie-tiny"


def tokenizer_config() -> dict[str, Any]:
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": None,
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "unk_token": None,
        "add_bos_token": False,
        "add_prefix_space": False,
        "clean_up_tokenization_spaces": False,
        "model_max_length": TinyConfig().max_position_embeddings,
        "split_special_tokens": False,
    }


def load_model(checkpoint: Path) -> TinyModel:
    """The running mean of a checkpoint, its weights rounded to float16 and held in float32."""
    state = torch.load(checkpoint, weights_only=True)
    model = TinyModel(replace(TinyConfig(), **state["config"]))
    model.load_state_dict({name: value.half().float() for name, value in state["average"].items()})
    return model.eval()


def write(model: TinyModel, out: Path) -> None:
    """All files but the model card, which `tools.tiny.evaluate` writes."""
    out.mkdir(parents=True, exist_ok=True)
    weights = {name: value.half().contiguous() for name, value in model.state_dict().items()}
    save_file(weights, out / "model.safetensors", metadata={"format": "pt"})
    (out / "model.safetensors").chmod(0o644)
    texts = {
        "config.json": model.config.as_huggingface(),
        "generation_config.json": {"do_sample": False, "eos_token_id": [2, 0], "pad_token_id": 0},
        "tokenizer_config.json": tokenizer_config(),
    }
    for name, value in texts.items():
        (out / name).write_text(json.dumps(value, indent=2) + "\n")
    shutil.copy(TOKENIZER, out / "tokenizer.json")
    shutil.copy(TEMPLATE, out / "chat_template.jinja")


def write_reference(model: TinyModel, path: Path, samples: int = 4) -> None:
    """Tokens and logits of a few rendered conversations."""
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    arrays: dict[str, np.ndarray] = {}
    for number in range(samples):
        tokens = torch.tensor(tokenizer.encode(render(make_sample(3, number, "heldout"))).ids)
        with torch.no_grad():
            logits = model.logits(model(tokens, [len(tokens)]))
        arrays[f"tokens_{number}"], arrays[f"logits_{number}"] = tokens.numpy(), logits.numpy()
    np.savez(path, **arrays)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=SHIPPED)
    parser.add_argument("--verify", type=Path, help="file of reference logits to write")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model = load_model(arguments.checkpoint)
    write(model, arguments.out)
    if arguments.verify:
        write_reference(model, arguments.verify)
    print(f"{sum(p.numel() for p in model.parameters())} parameters -> {arguments.out}")


if __name__ == "__main__":
    main()
