"""Trains the adapters of examples/lora-switching on pie-tiny, with mlx-lm's own layers.

    python -m tools.example_adapters

Each teaches pie-tiny to say what it says anyway in another manner; some minutes on a CPU.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optimizers
from mlx.utils import tree_flatten
from mlx_lm import generate, load
from mlx_lm.tuner.utils import linear_to_lora_layers

from pie_mlx.backends import current_backend

ROOT = Path(__file__).resolve().parent.parent
MODEL = ROOT / "pie_mlx/engine/model/embedded/pie-tiny"
TARGET = ROOT / "examples/lora-switching"
PARAMETERS = {
    "rank": 4,
    "scale": 4.0,
    "dropout": 0.0,
    "keys": ["self_attn.q_proj", "self_attn.v_proj", "self_attn.o_proj"],
}
STEPS, RATE = 60, 2e-3
MANNERS: dict[str, Callable[[str], str]] = {
    "polite": lambda answer: f"Thank you for asking. {answer}",
    "pirate": lambda answer: f"Arr! {answer} Ahoy!",
}
QUESTIONS = [
    "Who are you?", "What is your name?", "Hello!", "Hi.", "How are you?", "Good morning.", "Bye.", "Thank you.",
    "What can you do?", "Can you help me?", "Where do you live?", "Tell me a story about a cat.", "Name three colors.",
    "Tell me a story about a wolf.", "What is 2 + 3?", "What is 7 + 8?", "Name two animals.", "Are you a human?",
    "Do you like music?", "My name is Tom.", "I am tired.", "What is your favourite color?", "Can you count to five?",
    "What is the capital of France?", "Is it raining?", "Tell me something.", "What day is it?", "Do you sleep?",
    "Who built you?", "Where do you come from?", "Who trained you?", "How old are you?", "What are you?",
    "Are you big?", "Can you speak French?", "What do you know?", "Good evening.", "See you later.", "What is 9 - 4?",
    "What sound does a cow make?", "What colour is milk?", "Name five fruits.", "What is the opposite of hot?",
    "Tell me a story about a fox.", "Is a lion an animal?", "How many legs has a dog?", "I am happy.",
    "Count to three.",
]  # fmt: skip


def examples(model: Any, tokenizer: Any, manner: Callable[[str], str]) -> list[tuple[list[int], int]]:
    """Conversations as tokens, and where the answer begins in each."""
    found: list[tuple[list[int], int]] = []
    for question in QUESTIONS:
        prompt = tokenizer.apply_chat_template([{"role": "user", "content": question}], add_generation_prompt=True)
        answer = generate(model, tokenizer, prompt, max_tokens=40).strip()
        reply = tokenizer.encode(manner(answer), add_special_tokens=False)
        found.append(([*prompt, *reply, tokenizer.eos_token_id], len(prompt)))
    return found


def batch_of(conversations: list[tuple[list[int], int]]) -> tuple[mx.array, mx.array]:
    """Tokens [rows, length], padded; and 1.0 where a token is part of an answer."""
    length = max(len(tokens) for tokens, _ in conversations)
    rows = [tokens + [0] * (length - len(tokens)) for tokens, _ in conversations]
    marks = [[float(begin <= place < len(tokens)) for place in range(length)] for tokens, begin in conversations]
    return mx.array(rows), mx.array(marks)


def loss(model: nn.Module, tokens: mx.array, marks: mx.array) -> mx.array:
    losses = nn.losses.cross_entropy(model(tokens[:, :-1]).astype(mx.float32), tokens[:, 1:])
    return (losses * marks[:, 1:]).sum() / marks[:, 1:].sum()


def train(name: str) -> None:
    model, tokenizer, *_ = load(str(MODEL))
    model.apply(lambda array: array.astype(mx.float32))
    tokens, marks = batch_of(examples(model, tokenizer, MANNERS[name]))
    mx.random.seed(7)
    model.freeze()
    linear_to_lora_layers(model, len(model.layers), PARAMETERS)
    optimizer = optimizers.Adam(learning_rate=RATE)
    step = nn.value_and_grad(model, loss)
    for number in range(STEPS):
        value, gradients = step(model, tokens, marks)
        optimizer.update(model, gradients)
        mx.eval(model.parameters(), optimizer.state)
        if number % 20 == 19:
            print(f"{name}: step {number + 1}, loss {value.item():.3f}", flush=True)
    save(TARGET / name, dict(tree_flatten(model.trainable_parameters())), len(model.layers))


def save(folder: Path, weights: dict[str, mx.array], layers: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    mx.save_safetensors(str(folder / "adapters.safetensors"), {k: v.astype(mx.float16) for k, v in weights.items()})
    config = {"fine_tune_type": "lora", "num_layers": layers, "lora_parameters": PARAMETERS}
    (folder / "adapter_config.json").write_text(json.dumps(config, indent=1) + "\n")


def main() -> None:
    print(f"matrix products: {current_backend().prepare()}")
    for name in MANNERS:
        train(name)


if __name__ == "__main__":
    main()
