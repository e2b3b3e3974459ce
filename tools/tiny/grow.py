"""Adds layers to an exported model without changing what it computes.

    python -m tools.tiny.grow shipped --layers 7 --out grown

A new layer is a copy of the one before it whose last products are zero (Chen et al. 2016, Net2Net), so that training
goes on from the same function with more room. Config, tokenizer and template are those of the first, but for the count.
"""

import argparse
import json
import shutil
from pathlib import Path

import mlx.core as mx

from tools.tiny.weights import load_weights, save_weights


def origins(before: int, after: int) -> list[tuple[int, bool]]:
    """Which old layer each layer comes from, and whether it is new; the new ones lie spread out, none is the last.

    Raises ValueError unless `before` <= `after` < 2 * `before`.
    """
    added, places = after - before, before - 1
    if not 0 <= added <= places:
        raise ValueError(f"{before} layers grow to {before}..{before + places}, not to {after}")
    new = {(2 * number + 1) * places // (2 * added) for number in range(added)}
    return [(old, copied) for old in range(before) for copied in ([False, True] if old in new else [False])]


def _deepened(weights: dict[str, mx.array], plan: list[tuple[int, bool]]) -> dict[str, mx.array]:
    grown = {name: value for name, value in weights.items() if ".layers." not in name}
    for place, (old, new) in enumerate(plan):
        prefix = f"model.layers.{old}."
        for name in (name for name in weights if name.startswith(prefix)):
            value = weights[name]
            silent = new and name.endswith(("o_proj.weight", "down_proj.weight"))
            grown[f"model.layers.{place}." + name.removeprefix(prefix)] = mx.zeros_like(value) if silent else value
    return grown


def grow(model: Path, layers: int, out: Path) -> None:
    """Writes the model with as many `layers`. Raises ValueError for more than fit between those it has."""
    config = json.loads((model / "config.json").read_text())
    plan = origins(config["num_hidden_layers"], layers)
    weights = _deepened(load_weights(model), plan)
    shutil.copytree(model, out)
    save_weights(weights, out)
    (out / "config.json").write_text(json.dumps(config | {"num_hidden_layers": len(plan)}, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--layers", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True, help="folder to be made")
    arguments = parser.parse_args()
    try:
        grow(arguments.model, arguments.layers, arguments.out)
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
