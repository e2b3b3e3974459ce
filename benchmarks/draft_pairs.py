"""Pairs of a model and a draft model of which it is known beforehand how often the draft model is right."""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import mlx.core as mx

from benchmarks.random_llama import EMBEDDED, write_random_llama

LAYER = re.compile(r"model\.layers\.(\d+)\.(.*)")
SILENT = ("self_attn.o_proj.weight", "mlp.down_proj.weight")
"""What a layer adds goes through these."""

DEEP_LAYERS, SHALLOW_LAYERS = 30, 3


@dataclass(frozen=True)
class Pair:
    """A model and its draft model, as directories."""

    name: str
    model: Path
    draft: Path


def write_pie_tiny(directory: Path, layers: int) -> Path:
    """pie-tiny's first layers, or all of them with more that add nothing: these cost time and change no logit."""
    directory.mkdir()
    for path in EMBEDDED.iterdir():
        if path.suffix != ".safetensors":
            shutil.copy(path, directory / path.name)
    config = json.loads((EMBEDDED / "config.json").read_text())
    own = config["num_hidden_layers"]
    tensors = cast("dict[str, mx.array]", mx.load(str(EMBEDDED / "model.safetensors")))
    kept = {
        name: array for name, array in tensors.items() if not (found := LAYER.match(name)) or int(found[1]) < layers
    }
    for layer in range(own, layers):
        for name, array in tensors.items():
            if (found := LAYER.match(name)) and int(found[1]) == 0:
                content = mx.zeros_like(array) if found[2] in SILENT else array
                kept[f"model.layers.{layer}.{found[2]}"] = content
    mx.save_safetensors(str(directory / "model.safetensors"), kept, metadata={"format": "mlx"})
    (directory / "config.json").write_text(json.dumps(config | {"num_hidden_layers": layers}))
    return directory


def write_pairs(root: Path) -> list[Pair]:
    """Three pairs below `root`: always right, sometimes right, never right."""
    deep = write_pie_tiny(root / "deep", DEEP_LAYERS)
    shallow = write_pie_tiny(root / "shallow", SHALLOW_LAYERS)
    stranger = root / "stranger"
    stranger.mkdir()
    size = {"hidden_size": 64, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 32}
    write_random_llama(stranger, num_hidden_layers=2, intermediate_size=128, vocab_size=2048, **size)
    return [
        Pair(f"pie-tiny with {DEEP_LAYERS} layers of which all but 5 add nothing, drafted by pie-tiny", deep, EMBEDDED),
        Pair(f"pie-tiny, drafted by its first {SHALLOW_LAYERS} layers", EMBEDDED, shallow),
        Pair("pie-tiny, drafted by a random Llama that is never right", EMBEDDED, stranger),
    ]
