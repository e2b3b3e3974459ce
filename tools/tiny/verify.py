"""Compares mlx-lm's float32 logits of the shipped model with those PyTorch wrote during export.

python -m tools.tiny.verify reference.npz
"""

import argparse
from pathlib import Path

import mlx.core as mx
import numpy as np
from mlx_lm import load

TOLERANCE = 1e-3
SHIPPED = Path(__file__).parents[2] / "pie_mlx" / "engine" / "model" / "embedded" / "pie-tiny"


def largest_difference(model_path: Path, reference: Path) -> float:
    model = load(str(model_path))[0]
    model.set_dtype(mx.float32)
    stored = np.load(reference)
    worst = 0.0
    for name in stored.files:
        if name.startswith("tokens_"):
            logits = np.array(model(mx.array(stored[name])[None])[0])
            worst = max(worst, float(np.abs(logits - stored[name.replace("tokens", "logits")]).max()))
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--model", type=Path, default=SHIPPED)
    arguments = parser.parse_args()
    difference = largest_difference(arguments.model, arguments.reference)
    print(f"largest logit difference {difference:.2e} (allowed {TOLERANCE:.0e})")
    if difference > TOLERANCE:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
