"""Writes the model card of the shipped model from its measured scores and its training log.

python -m tools.tiny.evaluate --scores scores.json
python -m tools.tiny.card --scores scores.json
"""

import argparse
import json
from pathlib import Path
from typing import Any

from tools.tiny.evaluate import SHIPPED, Row, markdown

POINTS = 12
SHIPPED_LOG = Path(__file__).parent / "log.jsonl"
BARS = "▁▂▃▄▅▆▇█"
HEAD = """---
library_name: mlx
pipeline_tag: text-generation
tags: [mlx, qwen3, tool-use]
---
# pie-tiny

A language model of {parameters:.2f} million parameters for developing and testing agents offline. It was trained
from nothing on text made by the generator in `tools/tiny/` of pie-mlx; no other text or model was used. It is
taught to greet, to call tools in the Hermes form, in the ReAct style or in code blocks, to use their results and to try
again after an error, to fill in JSON, to answer questions about a given passage, to remember what was said, about 350
facts, and small sums, with a written thought if asked. It knows nothing else. How well it does each is measured below.

- Architecture: Qwen3, {layers} layers, hidden size {hidden}, {heads} query and {groups} key/value heads of size
  {head_dim}, tied embeddings, float16. Loads in mlx-lm and transformers.
- Tokenizer: byte-level BPE of {vocabulary} tokens. Digits stand alone; content words carry no space, so that a word
  has the same tokens wherever it is copied to.
- Chat: ChatML. Tools in the system block, calls as `<tool_call>` JSON, results as `<tool_response>` in a user turn.
  A thought (`<think>`) is written when the system prompt or the user asks for one ("Think before you answer.",
  "/think"); `enable_thinking=false` forbids it. Rendering a longer conversation extends the shorter one.
- Greedy decoding is recommended.
"""

TRAINING = """
## Training

{tokens:.1f} million tokens in {minutes:.0f} minutes on two CPU cores, {steps} steps, the mean of several states
(below), Muon and AdamW, loss on the assistant's turns only. Samples are generated as they are needed, so
hardly any is seen twice.

Loss {sparkline}

| million tokens | {columns} |
|---|{rule}|
| loss | {losses} |
"""
SCORES = """
## Scores

Greedy, float16, through the engine of pie-mlx in batches, on {items} conversations made of the held-out
templates, words and number pairs (facts: only the wording is new; lists of fewer than six items are shared;
exceptions below). A score counts the last turn of a conversation, which must be wholly right and ended.

{table}

Calls again, held to the offered tools by the grammar of their schemas, as `tool_choice: required` does:

{enforced_table}

Single calls without a grammar in wordings by somebody who had seen none of the generator's:

{independent_table}

The first token of a prompt of 200 tokens comes after {first_token_ms:.0f} ms on those two cores.

On {train_items} fresh conversations of the training distribution, which tells what does not generalise from what
was not learned:

{train_table}
"""


def sparkline(values: list[float]) -> str:
    low, high = min(values), max(values)
    scale = (len(BARS) - 1) / ((high - low) or 1)
    return "".join(BARS[round((value - low) * scale)] for value in values)


def _curve(log: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Lines of the log about evenly spaced in tokens, the last one included."""
    wanted = [log[-1]["tokens"] * (index + 1) / POINTS for index in range(POINTS)]
    nearest = {min(range(len(log)), key=lambda row: abs(log[row]["tokens"] - tokens)) for tokens in wanted}
    return [log[row] for row in sorted(nearest)]


def training_part(log: list[dict[str, Any]]) -> str:
    curve = _curve(log)
    return TRAINING.format(
        tokens=log[-1]["tokens"] / 1e6,
        minutes=log[-1]["minutes"],
        steps=log[-1]["step"],
        sparkline=sparkline([line["loss"] for line in curve]),
        columns=" | ".join(f"{line['tokens'] / 1e6:.1f}" for line in curve),
        rule="|".join("---" for _ in curve),
        losses=" | ".join(f"{line['loss']:.2f}" for line in curve),
    )


def head_part(config: dict[str, Any], weights_bytes: int) -> str:
    return HEAD.format(
        parameters=weights_bytes / 2e6,
        layers=config["num_hidden_layers"],
        hidden=config["hidden_size"],
        heads=config["num_attention_heads"],
        groups=config["num_key_value_heads"],
        head_dim=config["head_dim"],
        vocabulary=config["vocab_size"],
    )


def score_part(scores: dict[str, Any]) -> str:
    heldout = [Row(**row) for row in scores["heldout"]]
    train = [Row(**row) for row in scores["train"]]
    return SCORES.format(
        items=sum(row.items for row in heldout),
        table=markdown(heldout),
        enforced_table=markdown([Row(**row) for row in scores["enforced"]]),
        independent_table=markdown([Row(**row) for row in scores["independent"]]),
        first_token_ms=scores["first_token_ms"],
        train_items=sum(row.items for row in train),
        train_table=markdown(train),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--log", type=Path, default=SHIPPED_LOG, help="of the training")
    parser.add_argument(
        "--limits", type=Path, default=Path(__file__).parent / "limits.md", help="text on what limits it"
    )
    parser.add_argument("--model", type=Path, default=SHIPPED)
    arguments = parser.parse_args()
    config = json.loads((arguments.model / "config.json").read_text())
    log = [json.loads(line) for line in arguments.log.read_text().splitlines()]
    parts = [
        head_part(config, (arguments.model / "model.safetensors").stat().st_size),
        training_part(log),
        score_part(json.loads(arguments.scores.read_text())),
        "\n" + arguments.limits.read_text(),
    ]
    (arguments.model / "README.md").write_text("".join(parts))


if __name__ == "__main__":
    main()
