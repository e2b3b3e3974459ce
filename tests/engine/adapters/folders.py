"""Adapter folders with random matrices, as PEFT and mlx-lm write them."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np

Pairs = Mapping[str, tuple[np.ndarray, np.ndarray]]
"""By projection: down [.., in, rank] and up [.., rank, out], float32."""

PIE_TINY = {
    "self_attn.q_proj": (192, 192),
    "self_attn.k_proj": (192, 64),
    "self_attn.v_proj": (192, 64),
    "self_attn.o_proj": (192, 192),
    "mlp.gate_proj": (192, 512),
    "mlp.up_proj": (192, 512),
    "mlp.down_proj": (512, 192),
}
LAYERS = 5


def random_pairs(
    seed: int,
    rank: int | Callable[[str], int] = 4,
    parts: Sequence[str] = tuple(PIE_TINY),
    size: float = 0.4,
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Matrices for every block of pie-tiny, large enough to change what it says."""
    random = np.random.default_rng(seed)
    pairs = {}
    for layer in range(LAYERS):
        for part in parts:
            path = f"model.layers.{layer}.{part}"
            width, out = PIE_TINY[part]
            own = rank(path) if callable(rank) else rank
            down = random.standard_normal((width, own)).astype(np.float32) / np.sqrt(width)
            pairs[path] = down, (random.standard_normal((own, out)) * size).astype(np.float32)
    return pairs


def write_mlx_lm(folder: Path, pairs: Pairs, *, rank: int = 4, scale: float = 2.0, **config: Any) -> Path:
    """A folder as `mlx_lm.lora` writes it."""
    tensors = {}
    for path, (down, up) in pairs.items():
        tensors[f"{path}.lora_a"] = mx.array(np.swapaxes(down, -1, -2) if down.ndim == 3 else down)
        tensors[f"{path}.lora_b"] = mx.array(np.swapaxes(up, -1, -2) if up.ndim == 3 else up)
    parts = sorted({path.split(".", 3)[3] for path in pairs})
    parameters = {"rank": rank, "scale": scale, "dropout": 0.0, "keys": parts}
    settings = {"fine_tune_type": "lora", "num_layers": LAYERS, "lora_parameters": parameters} | config
    return _write(folder, settings, "adapters.safetensors", tensors)


def write_peft(folder: Path, pairs: Pairs, *, rank: int = 4, alpha: float = 8.0, **config: Any) -> Path:
    """A folder as PEFT's `save_pretrained` writes it."""
    tensors = {}
    for path, (down, up) in pairs.items():
        tensors[f"base_model.model.{path}.lora_A.weight"] = mx.array(np.ascontiguousarray(down.T))
        tensors[f"base_model.model.{path}.lora_B.weight"] = mx.array(np.ascontiguousarray(up.T))
    settings = {"peft_type": "LORA", "r": rank, "lora_alpha": alpha, "bias": "none", "use_dora": False} | config
    return _write(folder, settings, "adapter_model.safetensors", tensors)


def _write(folder: Path, config: Mapping[str, Any], name: str, tensors: dict[str, mx.array]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter_config.json").write_text(json.dumps(config))
    mx.save_safetensors(str(folder / name), tensors)
    return folder
