"""A tree of drafts beside a chain of as many: `python -m benchmarks.draft_trees [--repeats 5] [--drafts 8 16 24 48]`.

The drafter is that of the example `draft-tree`: it has seen answers before, and cannot know which comes now. A chain
follows the first of them that begins as the answer does, a tree all of them. pie-tiny answers greedily, one stream;
rounds alternate, and medians are compared. `processor` is the ratio of processor time per token.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from inferlet import Context, Model, Sampler, runtime
from pie_mlx import Engine

SMOKE = ("--repeats", "1", "--drafts", "24")
EXAMPLE = Path(__file__).parent.parent / "examples" / "draft-tree" / "main.py"
CAPITALS = {"France": "Paris", "Spain": "Madrid", "Italy": "Rome", "Germany": "Berlin", "Japan": "Tokyo"}
SEEN = [f"The capital of {country} is {city}." for country, city in CAPITALS.items()]


@dataclass
class Tally:
    """One round over all questions."""

    seconds: float = 0.0
    processor_seconds: float = 0.0
    tokens: int = 0
    passes: int = 0
    drafted: int = 0


async def main_of_a_round(input: dict[str, Any]) -> Tally:
    model, tally = Model.load(runtime.models()[0]), Tally()
    example = SimpleNamespace()
    exec(compile(EXAMPLE.read_text(), EXAMPLE, "exec"), example.__dict__)
    texts = [model.tokenizer().encode(text) for text in SEEN]
    for country in CAPITALS:
        with Context(model) as context:
            await context.user(f"What is the capital of {country}?").flush()
            speculator = example.Seen(context, texts, input["branches"], input["drafts"])
            started, worked = time.perf_counter(), time.process_time()
            async for step in context.generate(Sampler.argmax(), max_tokens=32, speculator=speculator):
                output = await step.execute()
                tally.tokens += len(output.tokens)
                tally.passes += 1
                tally.drafted += output.raw.drafted if output.raw is not None else 0
            tally.seconds += time.perf_counter() - started
            tally.processor_seconds += time.process_time() - worked
    return tally


async def measure(options: argparse.Namespace) -> None:
    print(
        f"{'drafts':>7}{'':4}{'tokens':>8}{'drafted':>9}{'passes':>8}{'tokens/pass':>13}{'ms/token':>10}{'processor':>11}"
    )
    async with Engine("pie-tiny", total_pages=256) as engine:
        for drafts in options.drafts:
            rounds: dict[str, list[Tally]] = {"chain": [], "tree": []}
            for place in range(options.repeats + 1):
                for name, branches in (("chain", 1), ("tree", len(SEEN))):
                    one = Tally(**await engine.run(main_of_a_round, {"branches": branches, "drafts": drafts}))
                    rounds[name] += [one] if place else []  # the first round warms up
            work = {
                name: statistics.median(one.processor_seconds / one.tokens for one in found)
                for name, found in rounds.items()
            }
            for name, found in rounds.items():
                last, seconds = found[-1], statistics.median(one.seconds / one.tokens for one in found)
                print(
                    f"{drafts:7} {name:6}{last.tokens:5}{last.drafted:9}{last.passes:8}"
                    f"{last.tokens / last.passes:13.2f}{1e3 * seconds:10.2f}{work['chain'] / work[name]:10.2f}x",
                    flush=True,
                )


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--drafts", type=int, nargs="+", default=[8, 16, 24, 48])
    asyncio.run(measure(parser.parse_args(words)))


if __name__ == "__main__":
    main()
