"""What programmability costs per token: `python -m benchmarks.tax [--tokens 64] [--rounds 6]`.

One greedy stream of the same model and prompt, by mlx-lm's `generate_step` (the loop inside `stream_generate`) and by
an inferlet: with `collect_tokens`, which the engine answers as a whole, and step by step; inline and in a worker
process. Rounds alternate. The null model has no peer, so there all time is the engine's; elsewhere the peer's median
time per token is taken off. Both sides use the same BLAS.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, cast, get_args

import mlx.core as mx
from mlx_lm import load as load_peer
from mlx_lm.generate import generate_step

from benchmarks.random_llama import write_random_llama
from pie_mlx import Engine
from pie_mlx.engine.model.blas import use_fast_blas
from pie_mlx.runtime.worker.settings import Isolation

TARGETS = {
    ("inline", "collect"): 0.15,
    ("inline", "steps"): 0.25,
    ("process", "collect"): 0.2,
    ("process", "steps"): 0.5,
}
"""Milliseconds more per token."""

MODELS: Mapping[str, dict[str, int] | None] = {
    "null model": None,
    "9.4M llama": {},
    "125M llama": {
        "hidden_size": 768,
        "num_hidden_layers": 14,
        "intermediate_size": 2560,
        "num_attention_heads": 12,
        "num_key_value_heads": 12,
    },
}
PROMPT = [1 + place * 104729 % 1900 for place in range(64)]
PROGRAM = """
import time
from inferlet import Context, Model, Sampler, runtime

async def main(input):
    with Context(Model.load(runtime.models()[0])) as context:
        context.append(input["prompt"])
        generator = context.generate(Sampler.argmax(), max_tokens=input["tokens"] + 1, stop=[], auto_flush=False)
        await (await anext(generator)).execute()
        seconds = []
        started = time.perf_counter()
        if input["way"] == "collect":
            await generator.collect_tokens()
            return [(time.perf_counter() - started) / input["tokens"]]
        async for step in generator:
            await step.execute()
            seconds.append(time.perf_counter() - started)
            started = time.perf_counter()
        return seconds
"""


@dataclass(frozen=True)
class Cost:
    """Seconds per token of one way, as many as were measured."""

    seconds: list[float]

    def milliseconds_over(self, peer: float) -> str:
        ordered = sorted(self.seconds)
        p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
        return f"median {(median(ordered) - peer) * 1e3:7.3f}   p99 {(p99 - peer) * 1e3:7.3f}"


def peer_seconds(model: Any, tokens: int) -> list[float]:
    """Seconds of each token after the first."""
    steps = generate_step(mx.array(PROMPT), model, max_tokens=tokens + 1)
    next(steps)
    seconds: list[float] = []
    started = time.perf_counter()
    for _ in steps:
        seconds.append(time.perf_counter() - started)
        started = time.perf_counter()
    return seconds


async def compare(name: str, directory: Path, tokens: int, rounds: int) -> list[str]:
    """A line for the peer and one for each way."""
    program = directory / "program.py"
    program.write_text(PROGRAM)
    sizes = MODELS[name]
    if sizes is not None:
        write_random_llama(directory, **sizes)
    peer_model = None if sizes is None else load_peer(str(directory))[0]
    theirs: list[float] = []
    found: dict[tuple[Isolation, str], list[float]] = {cast("Any", pair): [] for pair in TARGETS}
    async with AsyncExitStack() as stack:
        engines = {
            isolation: await stack.enter_async_context(engine(directory, sizes is None, isolation))
            for isolation in get_args(Isolation)
        }
        for index in range(rounds + 1):
            for (isolation, way), seconds in found.items():
                more = await engines[isolation].run(program, {"prompt": PROMPT, "tokens": tokens, "way": way})
                seconds += more if index else []  # the first round warms up
            if peer_model is not None:
                theirs += peer_seconds(peer_model, tokens) if index else []
    return table(name, theirs, found)


def engine(directory: Path, null: bool, isolation: Isolation) -> Engine:
    if null:
        return Engine(dummy=True, total_pages=1024, seed=1, isolation=isolation)
    return Engine(str(directory), total_pages=1024, isolation=isolation)


def table(name: str, theirs: Sequence[float], found: Mapping[tuple[Isolation, str], list[float]]) -> list[str]:
    base = median(theirs) if theirs else 0.0
    lines = [
        f"{name}: mlx-lm {base * 1e3:.3f} ms per token" if theirs else f"{name}: no peer, all time is the engine's"
    ]
    for pair, seconds in found.items():
        label = f"  {pair[1]:8} {pair[0]:8}"
        lines.append(f"{label} {Cost(seconds).milliseconds_over(base)} ms more   target {TARGETS[pair]:g}")
    return lines


async def measure(tokens: int, rounds: int) -> None:
    print(f"BLAS for both: {use_fast_blas()}")
    for name in MODELS:
        with tempfile.TemporaryDirectory() as directory:
            print("\n".join(await compare(name, Path(directory), tokens, rounds)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=64, help="new tokens of each stream")
    parser.add_argument("--rounds", type=int, default=6, help="measured rounds")
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.tokens, arguments.rounds))


if __name__ == "__main__":
    main()
