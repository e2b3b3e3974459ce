"""A quick look at a checkpoint: the share of assistant turns whose every token is the model's first choice.

For a turn this equals greedy decoding giving exactly the expected text, at the price of one forward pass, so it can be
run beside a training:

    python -m tools.tiny.probe --checkpoint /tmp/tiny/checkpoint.pt --split heldout
"""

import argparse
from collections import defaultdict
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch.nn import functional

from tools.tiny.chat import pieces
from tools.tiny.export import load_model
from tools.tiny.model import TinyModel
from tools.tiny.text import FAMILIES, Sample
from tools.tiny.text.mixture import make_of
from tools.tiny.train import TOKENIZER


@torch.no_grad()
def turns_right(model: TinyModel, tokenizer: Tokenizer, sample: Sample) -> tuple[list[bool], float]:
    """Per assistant turn whether all its tokens are first choices; and the mean loss of those tokens."""
    ids: list[int] = []
    spans: list[tuple[int, int]] = []
    for text, mine in pieces(sample):
        encoded = tokenizer.encode(text).ids
        if mine:
            spans.append((len(ids), len(ids) + len(encoded)))
        ids += encoded
    tokens = torch.tensor(ids)
    logits = model.logits(model(tokens, [len(ids)]))
    best = logits.argmax(-1)
    rows = torch.cat([torch.arange(start, end) for start, end in spans])
    loss = functional.cross_entropy(logits[rows - 1], tokens[rows]).item()
    return [bool((best[start - 1 : end - 1] == tokens[start:end]).all()) for start, end in spans], loss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--split", choices=["heldout", "train"], default="train")
    parser.add_argument("--items", type=int, default=40, help="conversations per family")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model, tokenizer = load_model(arguments.checkpoint), Tokenizer.from_file(str(TOKENIZER))
    right: defaultdict[str, list[bool]] = defaultdict(list)
    losses: defaultdict[str, list[float]] = defaultdict(list)
    for family in FAMILIES:
        for number in range(arguments.items):
            sample = make_of(family, 2000, number, arguments.split)
            turns, loss = turns_right(model, tokenizer, sample)
            right[sample.task] += turns
            losses[sample.task].append(loss)
    for task, flags in sorted(right.items()):
        mean_loss = sum(losses[task]) / len(losses[task])
        print(f"{task:24} {len(flags):5} turns  {100 * sum(flags) / len(flags):5.1f} % right  loss {mean_loss:.3f}")


if __name__ == "__main__":
    main()
