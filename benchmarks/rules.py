"""A rule beside a plain sampler, and beside the same rule computed by the program from a probe of the whole vocabulary.

    python -m benchmarks.rules [--vocabularies 32000 151936] [--streams 1 8 32] [--new-tokens 48] [--repeats 5]

Milliseconds per step on a random Llama of two small layers, so that the vocabulary is most of the work. The rule is
top-nσ; the program's own computation is the same in numpy, and draws from what is left. Rounds take turns, and medians
are compared. In the first table a text is asked for at once, in the second step by step.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from benchmarks.random_llama import write_random_llama
from inferlet import Context, Logits, Model, Sampler, rules, runtime
from pie_mlx import Engine

SMOKE = ("--vocabularies", "2100", "--streams", "1", "--new-tokens", "3", "--repeats", "1")
SMALL = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 1}
SIGMAS = 2.0
Way = Literal["plain", "rule", "probe"]
WAYS: tuple[Way, ...] = ("plain", "rule", "probe")


def sampler(way: Way, stream: int) -> Sampler:
    plain = Sampler.multinomial(1.0, seed=stream)
    return plain.ruled(rules.top_n_sigma(n=SIGMAS)) if way == "rule" else plain


def drawn_by_hand(row: npt.NDArray[np.float32], random: np.random.Generator) -> int:
    """A token under top-nσ, as a program without rules draws it."""
    largest = row.max()
    mass = np.where(row >= largest - SIGMAS * row.std(), np.exp(row - largest), 0)
    running = np.cumsum(mass)
    return int(np.searchsorted(running, random.random() * running[-1], side="right"))


async def write(way: Way, stream: int, new_tokens: int, *, at_once: bool) -> None:
    model, random = Model.load(runtime.models()[0]), np.random.default_rng(stream)
    with Context(model) as context:
        context.append([1 + stream, 2, 3])
        generator = context.generate(sampler(way, stream), max_tokens=new_tokens, stop=[], auto_flush=False)
        if at_once and way != "probe":
            await generator.collect_tokens()
            return
        async for step in generator:
            if way != "probe":
                await step.execute()
                continue
            probe = step.clear_sampler().probe(-1, Logits())
            output = await step.execute()
            row = np.frombuffer(output.logits(probe) or b"", np.float32)
            generator.accept([drawn_by_hand(row, random)])


async def seconds_per_step(engine: Engine, way: Way, streams: int, new_tokens: int, *, at_once: bool) -> float:
    async def main(input: object) -> float:
        started = time.perf_counter()
        await asyncio.gather(*[write(way, stream, new_tokens, at_once=at_once) for stream in range(streams)])
        return time.perf_counter() - started

    return float(await engine.run(main)) / new_tokens


def write_model(directory: Path, vocabulary: int) -> None:
    """With a tokenizer that has as many tokens, most of which no text needs."""
    write_random_llama(directory, vocab_size=vocabulary, num_key_value_heads=1, **SMALL)
    path = directory / "tokenizer.json"
    tokenizer = json.loads(path.read_text())
    known = tokenizer["model"]["vocab"]
    first = max([*known.values(), *(each["id"] for each in tokenizer["added_tokens"])]) + 1
    known |= {f"unused {token}": token for token in range(first, vocabulary)}
    path.write_text(json.dumps(tokenizer))


async def measure(vocabulary: int, directory: Path, options: argparse.Namespace) -> None:
    write_model(directory, vocabulary)
    async with Engine(directory, total_pages=512) as engine:
        for at_once in (True, False):
            print(f"\n{vocabulary} tokens, {'texts at once' if at_once else 'step by step'}, milliseconds per step")
            print(f"{'streams':>8}{'plain':>10}{'rule':>10}{'probe':>10}{'rule/plain':>12}{'probe/rule':>12}")
            for streams in options.streams:
                taken: dict[Way, list[float]] = {way: [] for way in WAYS}
                for number in range(options.repeats + 1):
                    for way in WAYS:
                        found = await seconds_per_step(engine, way, streams, options.new_tokens, at_once=at_once)
                        if number:  # the first round warms up
                            taken[way].append(1e3 * found)
                plain, rule, probe = (statistics.median(taken[way]) for way in WAYS)
                ratios = f"{rule / plain:>11.2f}x{probe / rule:>11.2f}x"
                print(f"{streams:8}{plain:10.2f}{rule:10.2f}{probe:10.2f}{ratios}", flush=True)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabularies", type=int, nargs="+", default=[32_000, 151_936])
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--new-tokens", type=int, default=48)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(words)
    for vocabulary in options.vocabularies:
        with tempfile.TemporaryDirectory() as directory:
            asyncio.run(measure(vocabulary, Path(directory), options))


if __name__ == "__main__":
    main()
