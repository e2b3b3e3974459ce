"""Averages the weights of two exported models of one origin.

    python -m tools.tiny.average earlier later --out both

Where a training went on from finished weights at the full rate, the mean of before and after may be better than either
(Wortsman et al. 2022, model soups). Config, tokenizer and template are those of the first.
"""

import argparse
import shutil
from pathlib import Path

import mlx.core as mx

from tools.tiny.weights import load_weights, save_weights


def average(first: Path, second: Path, out: Path) -> None:
    """Writes the model whose every weight is the mean of the two. Both have the same sizes."""
    weights, others = (load_weights(folder) for folder in (first, second))
    mean = {
        name: ((value.astype(mx.float32) + others[name].astype(mx.float32)) / 2).astype(value.dtype)
        for name, value in weights.items()
    }
    shutil.copytree(first, out)
    save_weights(mean, out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="folder to be made")
    arguments = parser.parse_args()
    average(arguments.first, arguments.second, arguments.out)


if __name__ == "__main__":
    main()
