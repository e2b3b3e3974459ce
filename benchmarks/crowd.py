"""Many programs on a pool for a few: `python -m benchmarks.crowd`.

Forty programs talk to pie-tiny in turns of their own lengths, on a pool that holds eight of them. The table shows how
long all took together, how often one had to make way for another, and how long the longest paused between two tokens;
then whether each got the text that it gets alone.
"""

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pie_mlx import Engine
from pie_mlx.events import ContextSuspended, Event, TickCompleted

SMOKE = ("--programs", "2", "--fit", "1", "--turns", "1", "--tokens", "2")
PAGE_TOKENS = 16
PROMPT_TOKENS = 160

PROGRAM = """
import asyncio, time
from inferlet import Context, Model, Sampler, runtime

async def main(input):
    texts, longest = [], 0.0
    with Context(Model.load(runtime.models()[0])) as context:
        for turn in range(input["turns"]):
            seed = input["number"] * 1000 + turn
            context.append([3 + (seed * 31 + place * 7) % 900 for place in range(input["prompt"])])
            text, last = [], time.monotonic()
            async for step in context.generate(Sampler.argmax(), max_tokens=input["tokens"], auto_flush=False, stop=[]):
                text += (await step.execute()).tokens
                longest, last = max(longest, time.monotonic() - last), time.monotonic()
            texts.append(text)
            await asyncio.sleep(input["pause"])
    return {"texts": texts, "longest": longest}
"""


@dataclass
class Counts:
    """What the engine told of a run."""

    ticks: int = 0
    suspensions: Counter[str] = field(default_factory=Counter[str])

    def on_event(self, event: Event) -> None:
        if isinstance(event, ContextSuspended):
            self.suspensions[event.reason] += 1
        elif isinstance(event, TickCompleted):
            self.ticks += event.steps


def inputs(programs: int, turns: int, tokens: int, pause: float) -> list[dict[str, object]]:
    """Replies of later programs are longer, up to twice."""
    return [
        {
            "number": number,
            "turns": turns,
            "prompt": PROMPT_TOKENS,
            "tokens": tokens + tokens * number // programs,
            "pause": pause,
        }
        for number in range(programs)
    ]


async def measure(programs: int, fit: int, turns: int, tokens: int, pause: float, policy: str) -> None:
    given = inputs(programs, turns, tokens, pause)
    pages = fit * (turns * (PROMPT_TOKENS + 3 * tokens // 2) // PAGE_TOKENS + 1)
    counts = Counts()
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "program.py"
        program.write_text(PROGRAM)
        async with Engine(
            "pie-tiny", total_pages=pages, policy=policy, isolation="inline", on_event=counts.on_event
        ) as engine:
            await engine.run(program, {**given[0], "turns": 1})
            started = time.monotonic()
            crowd = await asyncio.gather(*(engine.run(program, each) for each in given))
            seconds = time.monotonic() - started
        async with Engine("pie-tiny", total_pages=4096, isolation="inline") as engine:
            alone = [(await engine.run(program, {**each, "pause": 0}))["texts"] for each in given]
    same = sum(mine["texts"] == text for mine, text in zip(crowd, alone, strict=True))
    generated = sum(len(text) for mine in crowd for text in mine["texts"])
    print(f"{programs} programs on a pool of {pages} pages, for {fit} of them: {policy}")
    print(f"  {seconds:.2f} s, {generated / seconds:,.0f} tokens/s, {counts.ticks} ticks")
    print(f"  longest pause between two tokens {max(mine['longest'] for mine in crowd):.2f} s")
    print(f"  {counts.suspensions.total()} suspensions: {dict(counts.suspensions.most_common())}")
    print(f"  {same} of {programs} texts are those of programs alone")


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=40)
    parser.add_argument("--fit", type=int, default=8, help="how many of them the pool holds")
    parser.add_argument("--turns", type=int, default=4, help="of each program")
    parser.add_argument("--tokens", type=int, default=64, help="of the shortest reply")
    parser.add_argument("--pause", type=float, default=0.05, help="seconds between turns")
    parser.add_argument("--policy", default="market")
    options = parser.parse_args(words)
    asyncio.run(measure(options.programs, options.fit, options.turns, options.tokens, options.pause, options.policy))


if __name__ == "__main__":
    main()
