"""A batch of 16 streams with none, 1, 4 and 16 different adapters, and the same streams one after another.

    python -m benchmarks.adapters [--new-tokens 32] [--repeats 5] [--rank 8] [--streams 16]

One random Llama in float32, adapters on all projections. Rounds take turns and every round has new prompts, so nothing
comes from the prefix cache; medians are compared.
"""

import argparse
import asyncio
import itertools
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import mlx.core as mx

from benchmarks.random_llama import CONFIG, write_random_llama
from inferlet import Adapter, Context, Model, Sampler, runtime
from pie_mlx import Engine
from pie_mlx.backends import current_backend

SMOKE = ("--new-tokens", "2", "--repeats", "1", "--rank", "2", "--streams", "2")
PROMPT_TOKENS = 32
DISTINCT = (0, 1, 4, 16)
HIDDEN, INNER = CONFIG["hidden_size"], CONFIG["intermediate_size"]
WIDE = CONFIG["num_attention_heads"] * CONFIG["head_dim"]
PROJECTIONS = {
    "self_attn.q_proj": (HIDDEN, WIDE),
    "self_attn.k_proj": (HIDDEN, WIDE),
    "self_attn.v_proj": (HIDDEN, WIDE),
    "self_attn.o_proj": (WIDE, HIDDEN),
    "mlp.gate_proj": (HIDDEN, INNER),
    "mlp.up_proj": (HIDDEN, INNER),
    "mlp.down_proj": (INNER, HIDDEN),
}


def write_adapter(folder: Path, rank: int, seed: int) -> Path:
    """An mlx-lm adapter with random matrices for every projection."""
    mx.random.seed(seed)
    folder.mkdir()
    layers = CONFIG["num_hidden_layers"]
    tensors: dict[str, mx.array] = {}
    for layer in range(layers):
        for name, (width, out) in PROJECTIONS.items():
            path = f"model.layers.{layer}.{name}"
            tensors[f"{path}.lora_a"] = mx.random.normal((width, rank)) / width**0.5
            tensors[f"{path}.lora_b"] = mx.random.normal((rank, out)) * 0.1
    mx.save_safetensors(str(folder / "adapters.safetensors"), tensors)
    parameters = {"rank": rank, "scale": 2.0, "dropout": 0.0, "keys": list(PROJECTIONS)}
    config = {"fine_tune_type": "lora", "num_layers": layers, "lora_parameters": parameters}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return folder


def prompt(seed: int) -> list[int]:
    return [1 + (seed * 7919 + place * 104729) % 1900 for place in range(PROMPT_TOKENS)]


async def stream(model: Model, seed: int, adapter: Adapter | None, new_tokens: int) -> None:
    with Context(model) as context:
        context.append(prompt(seed))
        generator = context.generate(
            Sampler.argmax(), max_tokens=new_tokens, stop=[], auto_flush=False, adapter=adapter
        )
        await generator.collect_tokens()


async def together(
    model: Model, adapters: Sequence[Adapter | None], streams: int, first_seed: int, new_tokens: int
) -> float:
    """Seconds for all streams at once, the adapters dealt out among them."""
    chosen = itertools.islice(itertools.cycle(adapters or [None]), streams)
    started = time.perf_counter()
    await asyncio.gather(*(stream(model, first_seed + place, one, new_tokens) for place, one in enumerate(chosen)))
    return time.perf_counter() - started


async def one_after_another(model: Model, adapters: Sequence[Adapter], first_seed: int, new_tokens: int) -> float:
    """Seconds for the same streams by themselves."""
    started = time.perf_counter()
    for place, adapter in enumerate(adapters):
        await stream(model, first_seed + place, adapter, new_tokens)
    return time.perf_counter() - started


async def measure(folder: Path, options: argparse.Namespace) -> dict[str, float]:
    """Median seconds by what was run."""
    seconds: dict[str, list[float]] = {}
    streams, new_tokens = options.streams, options.new_tokens

    async def rounds(input: dict[str, object]) -> None:
        model = Model.load(runtime.models()[0])
        adapters = [Adapter.create(model, f"adapter {number}") for number in range(streams)]
        for number, adapter in enumerate(adapters):
            adapter.load(write_adapter(folder / f"adapter-{number}", options.rank, number))
        await together(model, adapters, streams, 0, 4)
        for round_number in range(options.repeats):
            seed = 1000 * (1 + round_number)
            for count in sorted({min(count, streams) for count in DISTINCT}):
                seed += streams
                taken = await together(model, adapters[:count], streams, seed, new_tokens)
                seconds.setdefault(f"{count or 'no'} adapter{'' if count == 1 else 's'}", []).append(taken)
            taken = await one_after_another(model, adapters, seed + streams, new_tokens)
            seconds.setdefault(f"{streams} adapters, one after another", []).append(taken)

    async with Engine(str(folder), total_pages=4096) as engine:
        await engine.run(rounds, {})
    return {name: statistics.median(values) for name, values in seconds.items()}


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--new-tokens", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--streams", type=int, default=16)
    arguments = parser.parse_args(words)
    print(f"matrix products: {current_backend().prepare()}")
    with tempfile.TemporaryDirectory() as directory:
        write_random_llama(Path(directory))
        found = asyncio.run(measure(Path(directory), arguments))
    plain = found["no adapters"]
    shape = f"{arguments.streams} streams of {PROMPT_TOKENS} + {arguments.new_tokens} tokens, rank {arguments.rank}"
    print(f"{shape:48} {'seconds':>9} {'relative':>9}")
    for name, seconds in found.items():
        print(f"{name:48} {seconds:9.3f} {seconds / plain:8.2f}x")


if __name__ == "__main__":
    main()
