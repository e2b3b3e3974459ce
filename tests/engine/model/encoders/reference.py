"""Writes `reference.json`: what transformers computes with the tiny encoders of `benchmarks/tiny_encoders.py`.

It needs torch (the dependency group `tiny`); the tests need only the file:

    python -m tests.engine.model.encoders.reference
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.tiny_encoders import PAIRS, TEXTS, write_tiny_encoder

KINDS = ("bert", "roberta", "xlm-roberta", "modernbert")
PATH = Path(__file__).with_name("reference.json")
DIGITS = 6


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = {kind: _of_kind(Path(folder) / kind, kind) for kind in KINDS}
    PATH.write_text(json.dumps(found, indent=None, separators=(",", ":")) + "\n")


def _of_kind(folder: Path, kind: str) -> dict[str, Any]:
    """Pooled as sentence-transformers does, in a padded batch, and the scores of a head for pairs of texts."""
    import torch
    from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

    plain = write_tiny_encoder(folder / "plain", kind)
    scoring = write_tiny_encoder(folder / "scoring", kind, labels=1, seed=1)
    tokenizer = AutoTokenizer.from_pretrained(plain)
    with torch.no_grad():
        texts = tokenizer(TEXTS, padding=True, return_tensors="pt")
        states = AutoModel.from_pretrained(plain, attn_implementation="eager")(**texts).last_hidden_state
        mask = texts["attention_mask"][..., None]
        last = texts["attention_mask"].sum(1) - 1
        sides = [list(side) for side in zip(*PAIRS, strict=True)]
        pairs = tokenizer(*sides, padding=True, return_tensors="pt")
        scorer = AutoModelForSequenceClassification.from_pretrained(scoring, attn_implementation="eager")
        scores = scorer(**pairs).logits
    pooled = {
        "cls": states[:, 0],
        "mean": (states * mask).sum(1) / mask.sum(1),
        "last": states[torch.arange(len(last)), last],
        "max": states.masked_fill(mask == 0, float("-inf")).amax(1),
        "score": scores,
    }
    rows = {name: [[round(value, DIGITS) for value in row] for row in each.tolist()] for name, each in pooled.items()}
    return {**rows, "text_ids": tokenizer(TEXTS)["input_ids"], "pair_ids": tokenizer(*sides)["input_ids"]}


if __name__ == "__main__":
    main()
