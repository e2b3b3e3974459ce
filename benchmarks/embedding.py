"""Texts per second of an encoder: `python -m benchmarks.embedding`, or with `--model DIR`.

The engine computes texts of about one length together, for a program of its own; the loop beside it computes one after
the other on the same network, and in batches of 32 as they come, padded to the longest. Texts have the lengths of
sentences and paragraphs. Without a model it is a random one.
"""

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.tiny_encoders import WORDS, write_tiny_encoder
from inferlet import Model, runtime
from pie_mlx import Engine
from pie_mlx.engine.model.encoders.encoder import Encoder, EncoderInput
from pie_mlx.engine.model.encoders.pageless import EncoderNetwork
from pie_mlx.engine.model.loading.load import load_model

BATCH = 32
SMOKE = ("--texts", "40", "--width", "16")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model")
    parser.add_argument("--texts", type=int, default=300)
    parser.add_argument("--width", type=int, default=128, help="of the random model")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        model = chosen.model or str(
            write_tiny_encoder(Path(folder), "bert", max_position_embeddings=512, **_sizes(chosen.width))
        )
        texts = _texts(chosen.texts)
        tokens, engine_seconds = asyncio.run(_in_engine(model, texts))
        encoder = _encoder(model)
        rows = {
            "the engine": engine_seconds,
            f"batches of {BATCH} as they come": _loop(encoder, tokens, BATCH),
            "one after the other": _loop(encoder, tokens, 1),
        }
        print(f"{len(texts):,} texts, {sum(map(len, tokens)):,} tokens")
        for name, seconds in rows.items():
            print(f"{name:28} {len(texts) / seconds:8.0f} texts/s")


def _sizes(width: int) -> dict[str, int]:
    return {"hidden_size": width, "intermediate_size": 4 * width, "num_hidden_layers": 4, "num_attention_heads": 4}


def _texts(count: int) -> list[str]:
    """Most are short, some are long."""
    dice = random.Random(0)
    words = [word for word in WORDS if word.isalpha()]
    return [" ".join(dice.choices(words, k=min(300, int(dice.lognormvariate(3, 0.8)) + 1))) for _ in range(count)]


async def _in_engine(model: str, texts: list[str]) -> tuple[list[list[int]], float]:
    """The tokens that the texts become, and the seconds for all vectors."""

    async def program(_: object) -> float:
        loaded = Model.load(runtime.models()[0])
        await loaded.embed(texts[:BATCH])
        begun = time.perf_counter()
        await loaded.embed(texts)
        return time.perf_counter() - begun

    async with Engine(model) as engine:
        reader = await engine.consult(lambda services: services.vectors.reader)
        seconds = await engine.run(program)
    steps = reader.texts(texts, "", truncates=True)
    try:
        while True:
            next(steps)
    except StopIteration as end:
        return [list(one.tokens) for one in end.value], seconds


def _encoder(model: str) -> Encoder:
    network = load_model(model, name="bench").network
    assert isinstance(network, EncoderNetwork)
    return network.encoder


def _loop(encoder: Encoder, texts: list[list[int]], size: int) -> float:
    inputs = [EncoderInput(tokens) for tokens in texts]
    encoder.compute(inputs[:size], "mean")
    begun = time.perf_counter()
    rows = [encoder.compute(inputs[place : place + size], "mean") for place in range(0, len(inputs), size)]
    assert np.isfinite(np.concatenate(rows)).all()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
