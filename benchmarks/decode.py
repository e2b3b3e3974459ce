"""Decode throughput, prefix sharing and time to first token beside mlx-lm, on one random Llama in one run.

    python -m benchmarks.decode [--new-tokens 64] [--repeats 3]

Both sides use the same weights in float32 and the same BLAS; rounds alternate and medians are compared.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx_lm import load as load_peer
from mlx_lm.generate import BatchGenerator, generate_step

from benchmarks.random_llama import CONFIG, write_random_llama
from pie_mlx import Engine
from pie_mlx.engine.model.blas import use_fast_blas
from pie_mlx.events import Event, TickCompleted
from pie_mlx.sdk import Context, Model, Sampler, runtime

SHARED_PROMPT = 1024
CONTINUATIONS = 16
PAGE_SIZE = 16
PAGE_BYTES = PAGE_SIZE * CONFIG["num_hidden_layers"] * 2 * CONFIG["num_key_value_heads"] * CONFIG["head_dim"] * 4


@dataclass(frozen=True)
class Row:
    """One comparison: tokens per second or seconds on both sides, and the ratio in our favour."""

    name: str
    peer: float
    ours: float
    unit: str
    lower_is_better: bool = False

    @property
    def ratio(self) -> float:
        return self.peer / self.ours if self.lower_is_better else self.ours / self.peer

    def text(self) -> str:
        return f"{self.name:44} {self.peer:12,.3f} {self.ours:12,.3f} {self.unit:9} {self.ratio:7.2f}x"


def prompt(length: int, seed: int) -> list[int]:
    return [1 + (seed * 7919 + place * 104729) % 1900 for place in range(length)]


def ragged(streams: int) -> list[list[int]]:
    """Prompts of 32 to 96 tokens."""
    return [prompt(32 + (seed * 37) % 65, seed) for seed in range(streams)]


class Peer:
    """mlx-lm on the same weights."""

    def __init__(self, directory: Path) -> None:
        self.model, *_ = load_peer(str(directory))

    def stream(self, tokens: Sequence[int], new_tokens: int) -> float:
        """Decode tokens per second of one stream, the loop inside `stream_generate`, without detokenising."""
        steps = generate_step(mx.array(list(tokens)), self.model, max_tokens=new_tokens)
        next(steps)
        started = time.perf_counter()
        count = sum(1 for _ in steps)
        return count / (time.perf_counter() - started)

    def batch(self, prompts: Sequence[Sequence[int]], new_tokens: int) -> tuple[float, int]:
        """Seconds for all prompts with `new_tokens` each, prefill included, and the KV bytes at the end."""
        generator = BatchGenerator(self.model, max_tokens=new_tokens, completion_batch_size=len(prompts))
        started = time.perf_counter()
        generator.insert([list(tokens) for tokens in prompts])
        kv_bytes = 0
        done = 0
        while done < len(prompts):
            responses = generator.next_generated()
            done += sum(response.finish_reason is not None for response in responses)
            kv_bytes = max(kv_bytes, cache_bytes(generator))
        seconds = time.perf_counter() - started
        generator.close()
        return seconds, kv_bytes

    def first_token(self, tokens: Sequence[int]) -> float:
        """Seconds to the first token of a prompt, without its cache: mlx-lm keeps none unless the caller does."""
        started = time.perf_counter()
        next(generate_step(mx.array(list(tokens)), self.model, max_tokens=1))
        return time.perf_counter() - started


class PeakPages:
    """The most pages that were in use at the end of a tick."""

    def __init__(self) -> None:
        self.used = 0

    def see(self, event: Event) -> None:
        if isinstance(event, TickCompleted):
            self.used = max(self.used, event.pages.used)


def cache_bytes(generator: Any) -> int:
    """Bytes of K and V the generator holds for its running batch."""
    caches = getattr(generator._generation_batch, "prompt_cache", None) or []
    return sum(int(layer.nbytes) for layer in caches if getattr(layer, "keys", None) is not None)


async def greedy(tokens: Sequence[int], new_tokens: int, context: Context | None = None) -> int:
    with context or Context(Model.load(runtime.models()[0])) as held:
        held.append(list(tokens))
        generator = held.generate(Sampler.argmax(), max_tokens=new_tokens, stop=[], auto_flush=False)
        return len(await generator.collect_tokens())


async def our_stream(tokens: Sequence[int], new_tokens: int) -> float:
    """Decode tokens per second of one stream, from the first token on."""
    with Context(Model.load(runtime.models()[0])) as context:
        context.append(list(tokens))
        generator = context.generate(Sampler.argmax(), max_tokens=new_tokens, stop=[], auto_flush=False)
        await (await anext(generator)).execute()
        started = time.perf_counter()
        count = len(await generator.collect_tokens()) - 1
        return count / (time.perf_counter() - started)


async def our_batch(prompts: Sequence[Sequence[int]], new_tokens: int) -> float:
    started = time.perf_counter()
    await asyncio.gather(*(greedy(tokens, new_tokens) for tokens in prompts))
    return time.perf_counter() - started


async def our_continuations(tokens: Sequence[int], tails: Sequence[Sequence[int]], new_tokens: int) -> float:
    started = time.perf_counter()
    with Context(Model.load(runtime.models()[0])) as root:
        root.append(list(tokens))
        await root.flush()
        await asyncio.gather(*(greedy(tail, new_tokens, root.fork()) for tail in tails))
    return time.perf_counter() - started


async def our_first_token(tokens: Sequence[int]) -> float:
    started = time.perf_counter()
    await greedy(tokens, 1)
    return time.perf_counter() - started


async def alternating(
    peer: Callable[[], float], ours: Callable[[], Awaitable[float]], repeats: int
) -> tuple[float, float]:
    """Medians of rounds that take turns, so that a busy machine is busy for both."""
    theirs: list[float] = []
    mine: list[float] = []
    for _ in range(repeats):
        theirs.append(peer())
        mine.append(await ours())
    return statistics.median(theirs), statistics.median(mine)


async def compare(directory: Path, new_tokens: int, repeats: int) -> list[Row]:
    peer = Peer(directory)
    rows: list[Row] = []
    pages = PeakPages()
    async with Engine(str(directory), total_pages=4096, on_event=pages.see) as engine:

        async def inside(work: Callable[[], Awaitable[float]]) -> float:
            async def main(input: dict[str, object]) -> float:
                return await work()

            return float(await engine.run(main, {}))

        one = prompt(64, 1)
        await inside(lambda: our_stream(one, 8))
        peer.stream(one, 8)
        values = await alternating(
            lambda: peer.stream(one, new_tokens), lambda: inside(lambda: our_stream(one, new_tokens)), repeats
        )
        rows.append(Row("1 stream, decode", *values, "tok/s"))
        for streams in (8, 32):
            many = ragged(streams)
            total = streams * new_tokens
            theirs, mine = await alternating(
                lambda many=many: peer.batch(many, new_tokens)[0],
                lambda many=many: inside(lambda: our_batch(many, new_tokens)),
                repeats,
            )
            rows.append(Row(f"{streams} ragged streams, prefill included", total / theirs, total / mine, "tok/s"))
        rows += await compare_sharing(peer, pages, inside, new_tokens, repeats)
    return rows


async def compare_sharing(
    peer: Peer,
    pages: PeakPages,
    inside: Callable[[Callable[[], Awaitable[float]]], Awaitable[float]],
    new_tokens: int,
    repeats: int,
) -> list[Row]:
    """16 continuations of one prompt, and the second of two equal prompts. Every round has a new prompt."""
    tails = [prompt(4, 1000 + tail) for tail in range(CONTINUATIONS)]
    seeds = iter(range(2000, 3000))
    sizes: list[tuple[int, int]] = []

    def theirs() -> float:
        root = prompt(SHARED_PROMPT, next(seeds))
        seconds, kv_bytes = peer.batch([root + tail for tail in tails], new_tokens)
        sizes.append((kv_bytes, 0))
        return seconds

    async def mine() -> float:
        pages.used = 0
        seconds = await inside(lambda: our_continuations(prompt(SHARED_PROMPT, next(seeds)), tails, new_tokens))
        sizes[-1] = (sizes[-1][0], pages.used * PAGE_BYTES)
        return seconds

    shared = await alternating(theirs, mine, repeats)
    again = prompt(SHARED_PROMPT, 4000)
    await inside(lambda: our_first_token(again))
    first = await alternating(lambda: peer.first_token(again), lambda: inside(lambda: our_first_token(again)), repeats)
    return [
        Row(f"{CONTINUATIONS} continuations of {SHARED_PROMPT} tokens", *shared, "s", True),
        Row("  their KV", sizes[-1][0] / 2**20, sizes[-1][1] / 2**20, "MiB", True),
        Row(f"first token of a second equal prompt of {SHARED_PROMPT}", *first, "s", True),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--new-tokens", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    print(f"BLAS for both: {use_fast_blas()}")
    with tempfile.TemporaryDirectory() as directory:
        write_random_llama(Path(directory))
        rows = asyncio.run(compare(Path(directory), arguments.new_tokens, arguments.repeats))
    print(f"{'9.4M-parameter random Llama, float32, greedy':44} {'mlx-lm':>12} {'pie-mlx':>12}")
    for row in rows:
        print(row.text())


if __name__ == "__main__":
    main()
