"""The weights of an exported model."""

from pathlib import Path
from typing import cast

import mlx.core as mx

FILE = "model.safetensors"


def load_weights(folder: Path) -> dict[str, mx.array]:
    """Every weight by its name."""
    return cast("dict[str, mx.array]", mx.load(str(folder / FILE)))


def save_weights(weights: dict[str, mx.array], folder: Path) -> None:
    """Write them where they are looked for, in the place of what is there."""
    mx.save_safetensors(str(folder / FILE), weights, metadata={"format": "pt"})
