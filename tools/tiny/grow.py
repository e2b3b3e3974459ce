"""Adds layers to an exported model without changing what it computes.

    python -m tools.tiny.grow shipped --layers 7 --out grown

A new layer is a copy of the one before it whose last products are zero (Chen et al. 2016, Net2Net), so that training
goes on from the same function with more room. Config, tokenizer and template are those of the first, but for the count.
"""

import argparse
import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file


def origins(before: int, after: int) -> list[tuple[int, bool]]:
    """Which old layer each layer comes from, and whether it is new; the new ones lie spread out, none is the last."""
    new = {round((place + 1) * before / (after - before + 1)) - 1 for place in range(after - before)}
    return [(old, copied) for old in range(before) for copied in ([False, True] if old in new else [False])]


def grow(weights: dict[str, torch.Tensor], plan: list[tuple[int, bool]]) -> dict[str, torch.Tensor]:
    grown = {name: value for name, value in weights.items() if ".layers." not in name}
    for place, (old, new) in enumerate(plan):
        prefix = f"model.layers.{old}."
        for name in (name for name in weights if name.startswith(prefix)):
            value = weights[name]
            silent = new and name.endswith(("o_proj.weight", "down_proj.weight"))
            grown[f"model.layers.{place}." + name.removeprefix(prefix)] = (
                torch.zeros_like(value) if silent else value.clone()
            )
    return grown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--layers", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True, help="folder to be made")
    arguments = parser.parse_args()
    config = json.loads((arguments.model / "config.json").read_text())
    plan = origins(config["num_hidden_layers"], arguments.layers)
    shutil.copytree(arguments.model, arguments.out)
    save_file(
        grow(load_file(arguments.model / "model.safetensors"), plan),
        arguments.out / "model.safetensors",
        metadata={"format": "pt"},
    )
    (arguments.out / "config.json").write_text(json.dumps(config | {"num_hidden_layers": len(plan)}, indent=2) + "\n")


if __name__ == "__main__":
    main()
