"""A rule beside a plain sampler, and beside the same rule computed by the program from a probe of the whole vocabulary.

    python -m benchmarks.rules [--vocabularies 32000 151936] [--streams 1 8 32] [--new-tokens 48] [--repeats 5]

Milliseconds per step on a random Llama of two small layers, so that the vocabulary is most of the work. The rule is
top-nσ; the program's own computation is the same in numpy, and draws from what is left. Rounds take turns, and medians
are compared. In the first table a text is asked for at once, in the second step by step. The third has texts that
another context guides, beside two plain texts for each, and beside two probes for each token. The last has every rule
of the library that needs no other context, and one that reads hidden states, as multiples of plain texts at once.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.random_llama import write_random_llama
from inferlet import Context, Logits, Model, Sampler, rule, rules, runtime
from inferlet.rules import Row, RuleUse, Value, Vector, where
from pie_mlx import Engine

SMOKE = ("--vocabularies", "2100", "--streams", "1", "--new-tokens", "3", "--repeats", "1")
SMALL = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 1}
SIGMAS = 2.0


@rule
def leaning(row: Row, direction: Vector) -> Value:
    """A linear probe of the hidden state."""
    return where(row.hidden_state.dot(direction) > 0.0, row.logits, row.logits / 2.0)


LIBRARY: dict[str, RuleUse] = {
    "min-p": rules.min_p(),
    "top-nσ": rules.top_n_sigma(n=SIGMAS),
    "eta": rules.eta(),
    "typical": rules.typical(),
    "xtc": rules.xtc(),
    "warmth": rules.entropy_temperature(),
    "gate": rules.entropy_gate(token=5),
    "mirostat": rules.mirostat(),
    "dry": rules.dry(),
    "mark": rules.watermark(key=7),
    "hidden": leaning(direction=[1.0] * SMALL["hidden_size"]),
}
Way = str
WAYS: tuple[Way, ...] = ("plain", "rule", "probe")
OF_TWO: tuple[Way, ...] = ("two", "guided", "probes")
SCALE = 1.5


def sampler(way: Way, stream: int) -> Sampler:
    return Sampler.multinomial(1.0, seed=stream).ruled(LIBRARY.get("top-nσ" if way == "rule" else way))


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


async def write_two(way: Way, stream: int, new_tokens: int) -> None:
    """Two contexts a text: plain ones, one that guides the other, or both joined by the program."""
    if way == "two":
        await asyncio.gather(*[write("plain", 2 * stream + one, new_tokens, at_once=True) for one in (0, 1)])
        return
    model, random = Model.load(runtime.models()[0]), np.random.default_rng(stream)
    with Context(model) as told, Context(model) as plain:
        following = [[1 + stream, 2, 3], [2, 3]]
        if way == "guided":
            told.append(following[0])
            plain.append(following[1])
            sampler = Sampler.multinomial(1.0, seed=stream).ruled(rules.guidance(scale=SCALE))
            made = told.generate(sampler, others=[plain], max_tokens=new_tokens, stop=[], auto_flush=False)
            await made.collect_tokens()
            return
        for _ in range(new_tokens):
            rows = await asyncio.gather(*map(next_row, (told, plain), following))
            guided = rows[1] + SCALE * (rows[0] - rows[1])
            running = np.cumsum(np.exp(guided - guided.max()))
            following = [[int(np.searchsorted(running, random.random() * running[-1], side="right"))]] * 2


async def next_row(context: Context, tokens: list[int]) -> npt.NDArray[np.float32]:
    step = context.forward().input(tokens)
    probe = step.probe(len(tokens) - 1, Logits())
    return np.frombuffer((await step.execute()).logits(probe) or b"", np.float32)


async def seconds_per_step(engine: Engine, way: Way, streams: int, new_tokens: int, *, at_once: bool) -> float:
    async def main(input: object) -> float:
        started = time.perf_counter()
        if way in OF_TWO:
            await asyncio.gather(*[write_two(way, stream, new_tokens) for stream in range(streams)])
        else:
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
        for title, ways, at_once in (
            ("texts at once", WAYS, True),
            ("step by step", WAYS, False),
            ("guidance between two contexts", OF_TWO, True),
        ):
            print(f"\n{vocabulary} tokens, {title}, milliseconds per step")
            plain_name, rule_name, probe_name = ways
            ratio_names = f"{rule_name + '/' + plain_name:>12}{probe_name + '/' + rule_name:>14}"
            print(f"{'streams':>8}{plain_name:>10}{rule_name:>10}{probe_name:>10}{ratio_names}")
            for streams in options.streams:
                plain, rule, probe = await medians(engine, ways, streams, options, at_once=at_once)
                ratios = f"{rule / plain:>11.2f}x{probe / rule:>13.2f}x"
                print(f"{streams:8}{plain:10.2f}{rule:10.2f}{probe:10.2f}{ratios}", flush=True)
        print(f"\n{vocabulary} tokens, each rule of the library, as multiples of a plain step")
        print(f"{'streams':>8}" + "".join(f"{name:>10}" for name in LIBRARY))
        for streams in options.streams:
            plain, *ruled = await medians(engine, ("plain", *LIBRARY), streams, options, at_once=True)
            print(f"{streams:8}" + "".join(f"{taken / plain:9.2f}x" for taken in ruled), flush=True)


async def medians(
    engine: Engine, ways: Sequence[Way], streams: int, options: argparse.Namespace, *, at_once: bool
) -> list[float]:
    """Milliseconds per step of each way; the first round warms up."""
    taken: dict[Way, list[float]] = {way: [] for way in ways}
    for number in range(options.repeats + 1):
        for way in ways:
            found = await seconds_per_step(engine, way, streams, options.new_tokens, at_once=at_once)
            if number:
                taken[way].append(1e3 * found)
    return [statistics.median(taken[way]) for way in ways]


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
