"""A rule beside the sampler that does the same, and beside programs that compute it from probes.

    python -m benchmarks.rules [--models toy 138M] [--vocabularies 32000 151936] [--streams 1 8 32] [--javascript]
                               [--tables texts] [--new-tokens 16] [--repeats 3]

The rule is min-p, which is also a sampler. Each stream is a program in a worker process of its own; those with probes
take all logits of every token through its link, and draw in numpy, with `--javascript` also in Node. Milliseconds per
step of all streams; launches and first tokens are not counted. Ways take turns in every round. What a way adds to the
first one is the median difference of the rounds.

`toy` is a random Llama of two small layers, so that the vocabulary is most of its work; `138M` has a real size, with
the first of the vocabularies. Of the tables, `texts` are asked for at once, which with probes cannot be; `steps` one by
one; `guided` has texts that another context guides, beside two plain texts for each and two probes for each token;
`library` has each rule of the library beside a plain draw.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from benchmarks.random_llama import write_random_llama
from pie_mlx import Engine
from pie_mlx.plural import plural
from pie_mlx.runtime.execution.process import Process

TABLES: Mapping[str, tuple[str, ...]] = {
    "texts": ("sampler", "min-p", "probe"),
    "steps": ("sampler", "min-p", "probe"),
    "guided": ("two", "guided", "probes"),
    "library": (
        "plain",
        *("min-p", "top-nσ", "eta", "typical", "xtc", "warmth", "gate", "mirostat", "dry", "mark", "hidden"),
    ),
}
MODELS: Mapping[str, dict[str, int]] = {
    "toy": {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 1,
        "num_key_value_heads": 1,
    },
    "138M": {
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "num_key_value_heads": 12,
    },
}
SMOKE = ("--models", "toy", "--vocabularies", "2100", "--streams", "1", "--new-tokens", "2", "--repeats", "1")
SMOKE += ("--tables", *TABLES)
IN_JAVASCRIPT = "in Node"
PROBES = ("probe", "probes", IN_JAVASCRIPT)
PROGRAMS = Path(__file__).parent / "rule_streams"


class Streams:
    """Programs that write texts beside each other, each in a worker process."""

    def __init__(self, engine: Engine, width: int) -> None:
        self._engine, self._width = engine, width
        self._told = asyncio.Queue[str]()
        self._programs: dict[str, list[Process]] = {"stream.py": [], "stream.mjs": []}

    async def milliseconds(self, way: str, streams: int, tokens: int, *, steps: bool) -> float:
        """Of a step of `streams` texts, from all first tokens to the last end."""
        programs = self._programs[name := "stream.mjs" if way == IN_JAVASCRIPT else "stream.py"]
        while len(programs) < streams:
            given = {"number": len(programs), "width": self._width}
            told = self._told.put_nowait
            programs.append(await self._engine.launch(PROGRAMS / name, given, on_message=told))
        await self._answers(programs[:streams], json.dumps({"way": way, "tokens": tokens, "steps": steps}))
        began = time.perf_counter()
        await self._answers(programs[:streams], "go on")
        return 1e3 * (time.perf_counter() - began) / tokens

    async def end(self) -> None:
        for process in [*self._programs["stream.py"], *self._programs["stream.mjs"]]:
            process.send("null")
            await process.result()

    async def _answers(self, programs: Sequence[Process], message: str) -> None:
        for process in programs:
            process.send(message)
        async with asyncio.timeout(600):
            for _ in programs:
                await self._told.get()


def write_model(directory: Path, vocabulary: int, sizes: Mapping[str, int]) -> None:
    """With a tokenizer that has as many tokens, most of which no text needs."""
    write_random_llama(directory, vocab_size=vocabulary, **sizes)
    path = directory / "tokenizer.json"
    tokenizer = json.loads(path.read_text())
    known = tokenizer["model"]["vocab"]
    first = max([*known.values(), *(each["id"] for each in tokenizer["added_tokens"])]) + 1
    known |= {f"unused {token}": token for token in range(first, vocabulary)}
    path.write_text(json.dumps(tokenizer))


async def measure(name: str, vocabulary: int, directory: Path, options: argparse.Namespace) -> None:
    sizes = MODELS[name]
    write_model(directory, vocabulary, sizes)
    async with Engine(directory, total_pages=512, isolation="process") as engine:
        streams = Streams(engine, sizes["hidden_size"])
        for table in options.tables:
            ways = TABLES[table]
            if options.javascript and "probe" in ways:
                ways = (*ways, IN_JAVASCRIPT)
            for count in options.streams:
                rounds = await measured(streams, ways, count, options, steps=table == "steps")
                print(f"\n{name}, {vocabulary} tokens, {table}, {plural(count, 'stream')}: milliseconds per step")
                print("\n".join(lines(ways, rounds)), flush=True)
        await streams.end()


async def measured(
    streams: Streams, ways: Sequence[str], count: int, options: argparse.Namespace, *, steps: bool
) -> list[list[float]]:
    """Milliseconds per step of each round and way; a round before them warms up."""
    return [
        [await streams.milliseconds(way, count, options.new_tokens, steps=steps) for way in ways]
        for _ in range(options.repeats + 1)
    ][1:]


def lines(ways: Sequence[str], rounds: Sequence[Sequence[float]]) -> Iterator[str]:
    """The median of each way, what it adds to the first one, and the quotient of both; of a probe also how many times
    as much as the rule it adds."""
    added = [median(each[place] - each[0] for each in rounds) for place in range(len(ways))]
    for place, way in enumerate(ways):
        line = f"  {way:10}{median(each[place] for each in rounds):9.2f}"
        if place:
            line += f"{added[place]:+9.2f}{median(each[place] / each[0] for each in rounds):8.2f}x"
        if place > 1 and way in PROBES and added[1] > 0:
            line += f", {added[place] / added[1]:.1f} times what the rule adds"
        yield line


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", choices=MODELS, nargs="+", default=list(MODELS))
    parser.add_argument("--vocabularies", type=int, nargs="+", default=[32_000, 151_936])
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--tables", choices=TABLES, nargs="+", default=["texts"])
    parser.add_argument("--javascript", action="store_true", help="measure probes of programs in Node, too")
    parser.add_argument("--new-tokens", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(words)
    for name in options.models:
        for vocabulary in options.vocabularies[: None if name == "toy" else 1]:
            with tempfile.TemporaryDirectory() as directory:
                asyncio.run(measure(name, vocabulary, Path(directory), options))


if __name__ == "__main__":
    main()
