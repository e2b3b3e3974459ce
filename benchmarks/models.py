"""What several models in one engine cost: `python -m benchmarks.models [--layers N] [--tokens N]`.

Two random Llamas decode one text each: one after the other by hand, by hand in turns of some tokens, which take as
long as the engine's turns, and both at once in one engine. Then the second one leaves and comes back: seconds of each,
and the resident memory of the process before it was ever loaded, with it, and without it again.
"""

import argparse
import asyncio
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.random_llama import write_random_llama
from inferlet import Context, Generator, Model, Sampler
from pie_mlx import Engine, EngineSettings
from pie_mlx.engine.scheduler.device_turns import TURN_SECONDS

SMOKE = ("--layers", "1", "--tokens", "2", "--repeats", "1")
NAMES = ("first", "second")


async def decode(input: dict[str, object]) -> None:
    """A program: one text of a model."""
    with Context(Model.load(str(input["model"]))) as context:
        context.append([5 + index % 90 for index in range(16)])
        await context.generate(
            Sampler.argmax(), max_tokens=int(str(input["tokens"])), stop=[], auto_flush=False
        ).collect_tokens()


async def decode_in_turns(input: dict[str, object]) -> None:
    """A program: one text of each model, some tokens of one and as many of the other in turn."""
    with Context(Model.load(NAMES[0])) as first, Context(Model.load(NAMES[1])) as second:
        left, most = int(str(input["tokens"])), int(str(input["most"]))
        generators: list[Generator] = []
        for context in (first, second):
            context.append([5 + index % 90 for index in range(16)])
            generators.append(context.generate(Sampler.argmax(), max_tokens=left, stop=[], auto_flush=False))
        for drawn in range(0, left, most):
            for generator in generators:
                await (await anext(generator)).up_to(min(most, left - drawn)).execute()


async def seconds_in_turns(engine: Engine, tokens: int, most: int) -> float:
    """What both texts take in turns of at `most` so many tokens by hand."""
    begun = time.perf_counter()
    await engine.run(decode_in_turns, {"tokens": tokens, "most": most})
    return time.perf_counter() - begun


async def seconds_for(engine: Engine, tokens: int, *groups: Sequence[str]) -> float:
    """What it takes until the models of each group, at once, have drawn their tokens."""
    begun = time.perf_counter()
    for group in groups:
        await asyncio.gather(*(engine.run(decode, {"model": name, "tokens": tokens}) for name in group))
    return time.perf_counter() - begun


async def measure(directory: Path, tokens: int, repeats: int) -> Table:
    table = Table("what", "figure", title="two models in one engine")
    settings = [
        EngineSettings(str(directory), name=NAMES[0], total_pages=64),
        EngineSettings(str(directory), name=NAMES[1], total_pages=64, load="lazy", keep_alive_seconds=3600.0),
    ]
    async with Engine(settings) as engine:
        await seconds_for(engine, 2, NAMES[:1])
        before = resident_mib()
        await seconds_for(engine, 2, NAMES[1:])
        by_hand, in_turns, at_once = [], [], []
        for _ in range(repeats):
            by_hand.append(await seconds_for(engine, tokens, NAMES[:1], NAMES[1:]))
            step_seconds = min(by_hand) / (2 * tokens)
            in_turns.append(await seconds_in_turns(engine, tokens, max(1, round(2 * TURN_SECONDS / step_seconds))))
            at_once.append(await seconds_for(engine, tokens, NAMES))
        table.add_row("one after the other", f"{2 * tokens / min(by_hand):,.1f} tokens/s")
        table.add_row("in turns by hand", f"{2 * tokens / min(in_turns):,.1f} tokens/s")
        table.add_row("both at once", f"{2 * tokens / min(at_once):,.1f} tokens/s")
        table.add_row(
            "ratio of both at once to each", f"{min(by_hand) / min(at_once):.2f}, {min(in_turns) / min(at_once):.2f}"
        )
        loaded = resident_mib()
        begun = time.perf_counter()
        await engine.models.unload(NAMES[1])
        unloaded, left = time.perf_counter(), resident_mib()
        await engine.models.load(NAMES[1])
        table.add_row("unload", f"{unloaded - begun:.2f} s")
        table.add_row("load", f"{time.perf_counter() - unloaded:.2f} s")
        table.add_row("resident memory before, with, after", f"{before:,.0f}, {loaded:,.0f}, {left:,.0f} MiB")
    return table


def resident_mib() -> float:
    """Resident memory of this process; its peak where the system says only that."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
    return pages * resource.getpagesize() / (1 << 20)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--width", type=int, default=320)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        write_random_llama(Path(folder), num_hidden_layers=options.layers, hidden_size=options.width)
        Console(width=100).print(asyncio.run(measure(Path(folder), options.tokens, options.repeats)))


if __name__ == "__main__":
    main(sys.argv[1:])
