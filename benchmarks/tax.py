"""What programmability costs per token.

    python -m benchmarks.tax [--tokens 64] [--rounds 6] [--models "null model" "9.4M llama" "125M llama"]

One greedy stream by mlx-lm's `generate_step` (the loop inside `stream_generate`) and by an inferlet: with
`collect_tokens`, which the engine answers as a whole, and step by step; inline and in a worker process. Rounds have new
prompts of equal length, and the peer runs behind each. Its mean time per token there is taken off, as the speed of a
host changes: off the mean of the inferlet, of which the median round is told, and, where it is known when each token
came, off every token for the 99th percentile: several may come at once. The null model is the same hash on both sides.
Both use the same BLAS.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from itertools import chain
from pathlib import Path
from statistics import fmean, median
from typing import Any, cast, get_args

import mlx.core as mx
from mlx_lm import load as load_peer
from mlx_lm.generate import generate_step

from benchmarks.random_llama import write_random_llama
from pie_mlx import Engine
from pie_mlx.backends import current_backend
from pie_mlx.bench.prompts import prompt
from pie_mlx.engine.model.loading.load import null_model
from pie_mlx.engine.model.networks.null_network import NullNetwork
from pie_mlx.engine.model.step import StepInput
from pie_mlx.metal import PageMemory
from pie_mlx.runtime.worker.settings import Isolation

SMOKE = ("--tokens", "2", "--rounds", "1", "--models", "null model")
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
Seconds = list[float]
"""Per token of a round: of every token, or their mean alone."""

Round = tuple[Seconds, Seconds]
"""The inferlet's, and mlx-lm's behind it."""

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


class Counted:
    """What mlx-lm takes for the cache of a model that keeps nothing: how many tokens there were."""

    def __init__(self) -> None:
        self.offset, self.state = 0, list[mx.array]()


class NullPeer:
    """The null model as mlx-lm runs models."""

    def __init__(self, vocabulary_size: int) -> None:
        self._network = NullNetwork(vocabulary_size)

    def make_cache(self) -> list[Counted]:
        return [Counted()]

    def __call__(self, tokens: mx.array, cache: list[Counted]) -> mx.array:
        """Logits [1, T, vocabulary] of tokens [1, T]."""
        (before,), count = cache, tokens.shape[1]
        positions = range(before.offset, before.offset + count)
        before.offset += count
        step = StepInput(tokens[0], positions, slots=[], segments=(), logit_rows=range(count))
        return self._network.forward(step, cast("PageMemory", None))[None]


def peer_seconds(model: Any, tokens: int, seed: int) -> list[float]:
    """Seconds of each token after the first."""
    steps = generate_step(mx.array(prompt(64, seed)), model, max_tokens=tokens + 1)
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
    found: dict[tuple[Isolation, str], list[Round]] = {cast("Any", pair): [] for pair in TARGETS}
    async with AsyncExitStack() as stack:
        engines = {
            isolation: await stack.enter_async_context(engine(directory, sizes is None, isolation))
            for isolation in get_args(Isolation)
        }
        peer = NullPeer(null_model().vocabulary_size) if sizes is None else load_peer(str(directory))[0]
        for index in range(rounds + 1):  # the first round warms up
            for place, ((isolation, way), done) in enumerate(found.items(), index * len(found)):
                given = {"prompt": prompt(64, place), "tokens": tokens, "way": way}
                done.append((await engines[isolation].run(program, given), peer_seconds(peer, tokens, place)))
    return table(name, {pair: done[1:] for pair, done in found.items()})


def engine(directory: Path, null: bool, isolation: Isolation) -> Engine:
    if null:
        return Engine(dummy=True, total_pages=1024, seed=1, isolation=isolation)
    return Engine(str(directory), total_pages=1024, isolation=isolation)


def table(name: str, found: Mapping[tuple[Isolation, str], Sequence[Round]]) -> list[str]:
    theirs = chain(*(peer for done in found.values() for _, peer in done))
    lines = [f"{name}: mlx-lm {median(theirs) * 1e3:.3f} ms per token"]
    for pair, done in found.items():
        mean = median(fmean(mine) - fmean(peer) for mine, peer in done)
        ordered = sorted(each - fmean(peer) for mine, peer in done for each in mine)
        p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
        told = f"mean {mean * 1e3:7.3f}   p99 {p99 * 1e3:7.3f} ms more   target {TARGETS[pair]:g}"
        lines.append(f"  {pair[1]:8} {pair[0]:8} {told}")
    return lines


async def measure(models: Sequence[str], tokens: int, rounds: int) -> None:
    print(f"matrix products of both: {current_backend().prepare()}")
    for name in models:
        with tempfile.TemporaryDirectory() as directory:
            print("\n".join(await compare(name, Path(directory), tokens, rounds)), flush=True)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=64, help="new tokens of each stream")
    parser.add_argument("--rounds", type=int, default=6, help="measured rounds")
    parser.add_argument("--models", choices=MODELS, nargs="+", default=list(MODELS))
    arguments = parser.parse_args(words)
    asyncio.run(measure(arguments.models, arguments.tokens, arguments.rounds))


if __name__ == "__main__":
    main()
