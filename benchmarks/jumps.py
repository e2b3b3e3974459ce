"""What is saved where a grammar leaves no choice: `python -m benchmarks.jumps [--repeats 5] [--streams 1 8]`.

JSON by schemas with fixed keys, with the blanks that the model likes and with fixed separators, drawn greedily with
`grammar_jumps` on and off, and with it on and the grammar's own drafts (`speculation="grammar"`). Rounds alternate and
medians are compared. Passes are rows of a context: a batch of eight
counts as eight. `processor` is the ratio of processor time, which other programs on the machine disturb less. The
models are pie-tiny, which has learned to write, and a random Llama of 9.4 million parameters,
which has not but costs more; its free texts are as long as their schema lets them be.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.random_llama import EMBEDDED, write_random_llama
from inferlet import Context, JsonSchema, Model, Sampler, runtime
from pie_mlx import Engine
from pie_mlx.events import Event, PassCompleted

SMOKE = ("--repeats", "1", "--streams", "1", "--models", "pie-tiny", "--schemas", "verdict")
SEPARATORS: dict[str, tuple[str, str] | None] = {"any blanks": None, "spaced": (", ", ": "), "compact": (",", ":")}
MODELS = ("pie-tiny", "random Llama, 9.4M")
MOST_TOKENS = 200


def record(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def text(most: int) -> dict[str, object]:
    return {"type": "string", "maxLength": most}


def number(most: int, kind: str = "integer") -> dict[str, object]:
    return {"type": kind, "minimum": 0, "maximum": most}


LINE = record(description=text(12), quantity=number(99), unit_price=number(999, "number"))
SCHEMAS = {
    "person": record(name=text(12), age=number(150), email=text(16), active={"type": "boolean"}),
    "verdict": record(
        verdict={"enum": ["accept", "reject", "undecided"]}, confidence=number(1, "number"), reason=text(20)
    ),
    "invoice": record(
        invoice_number=text(8),
        currency={"const": "EUR"},
        lines={"type": "array", "minItems": 2, "maxItems": 3, "items": LINE},
        total=number(9999, "number"),
    ),
}


@dataclass
class Counts:
    """Passes of contexts, and tokens that were appended without being drawn."""

    passes: int = 0
    forced: int = 0

    def on_event(self, event: Event) -> None:
        if isinstance(event, PassCompleted) and event.rows_read:
            self.passes += 1 + event.following
            self.forced += event.forced_tokens


@dataclass(frozen=True)
class Round:
    """One round on one engine."""

    seconds: float
    processor_seconds: float
    passes: int
    forced: int
    texts: list[list[int]]

    @property
    def tokens(self) -> int:
        return sum(map(len, self.texts))


async def main_of_a_round(input: dict[str, Any]) -> tuple[float, float, list[list[int]]]:
    """Streams that write the same schema after different prompts, whose KV is there already."""
    model = Model.load(runtime.models()[0])
    contexts = [Context(model).user(f"Write record {place} as JSON.") for place in range(input["streams"])]
    await asyncio.gather(*(context.flush() for context in contexts))
    schema = JsonSchema(input["schema"], separators=input["separators"])
    speculation = "grammar" if input["drafts"] else None
    started, worked = time.perf_counter(), time.process_time()
    texts = await asyncio.gather(
        *(
            context.generate(
                Sampler.argmax(), max_tokens=MOST_TOKENS, constrain=schema, speculation=speculation
            ).collect_tokens()
            for context in contexts
        )
    )
    return time.perf_counter() - started, time.process_time() - worked, list(texts)


async def round_of(engine: Engine, counts: Counts, input: dict[str, Any]) -> Round:
    passes, forced = counts.passes, counts.forced
    seconds, worked, texts = await engine.run(main_of_a_round, input)
    return Round(seconds, worked, counts.passes - passes, counts.forced - forced, texts)


async def compare(engines: Sequence[tuple[Engine, Counts]], input: dict[str, Any], repeats: int) -> str:
    """A line of the table; `engines` are the one without jumps and the one with them."""
    plain, jumping = engines
    ways = ((plain, False), (jumping, False), (jumping, True))
    rounds: list[list[Round]] = [[], [], []]
    for place in range(repeats + 1):
        for found, ((engine, counts), drafts) in zip(rounds, ways, strict=True):
            one = await round_of(engine, counts, {**input, "drafts": drafts})
            if place:  # the first round warms up
                found.append(one)
    (*_, before), (*_, after), (*_, drafted) = rounds
    times = [statistics.median(one.seconds / one.tokens for one in found) for found in rounds]
    work = [statistics.median(one.processor_seconds / one.tokens for one in found) for found in rounds]
    return (
        f"{after.tokens:8}{after.forced / after.tokens:8.0%}{before.passes:9}{after.passes:8}"
        f"{before.passes / after.passes:8.2f}x{after.tokens / after.passes:13.2f}{1e3 * times[0]:10.2f}"
        f"{1e3 * times[1]:8.2f}{times[0] / times[1]:8.2f}x{work[0] / work[1]:10.2f}x"
        f"{drafted.passes:9}{before.passes / drafted.passes:8.2f}x{times[0] / times[2]:8.2f}x{work[0] / work[2]:10.2f}x"
        + (
            ""
            if before.texts == after.texts == drafted.texts
            else "   the tokens differ (logits that are nearly equal)"
        )
    )


async def measure(name: str, directory: Path, options: argparse.Namespace) -> None:
    print(f"\n{name}")
    print(
        f"{'schema':10}{'blanks':12}{'streams':>7}{'tokens':>8}{'forced':>8}{'passes':>9}{'jumping':>8}{'fewer':>9}"
        f"{'tokens/pass':>13}{'ms/token':>10}{'jumping':>8}{'faster':>9}{'processor':>11}"
        f"{'drafting':>9}{'fewer':>9}{'faster':>9}{'processor':>11}"
    )
    without, jumping = Counts(), Counts()
    async with (
        Engine(directory, total_pages=1024, grammar_jumps=False, on_event=without.on_event) as plain,
        Engine(directory, total_pages=1024, on_event=jumping.on_event) as engine,
    ):
        engines = ((plain, without), (engine, jumping))
        for schema in options.schemas:
            for blanks, separators in SEPARATORS.items():
                for streams in options.streams:
                    input = {"schema": json.dumps(SCHEMAS[schema]), "separators": separators, "streams": streams}
                    line = await compare(engines, input, options.repeats)
                    print(f"{schema:10}{blanks:12}{streams:7}{line}", flush=True)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--models", nargs="*", choices=MODELS, default=MODELS)
    parser.add_argument("--schemas", nargs="*", choices=list(SCHEMAS), default=list(SCHEMAS))
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as directory:
        write_random_llama(Path(directory))
        for name in options.models:
            asyncio.run(measure(name, EMBEDDED if name == "pie-tiny" else Path(directory), options))


if __name__ == "__main__":
    main()
