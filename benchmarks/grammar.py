"""What constrained decoding costs: `python -m benchmarks.grammar [VOCABULARY_SIZE ...]` (default 32000 and 150000;
0 goes straight to decoding, `--streams` without numbers leaves decoding out, `--streams 32 --constraints schema` does a
part of it, `--cases "any JSON"` a part of the masks); `--generations 200` checks what comes out instead, for every type
of schema.

Compile time, and the time of a mask per step along a fixed text, walked several times as many programs would, through a
`Matcher` and by calling llguidance directly; then decoding on pie-tiny with and without constraints, at 1, 8 and 32
streams. Tokenizers are byte-level BPE trained on the sources of Python's standard library, so a run needs no download.
"""

import argparse
import asyncio
import statistics
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import llguidance
import numpy as np
import tokenizers
from tokenizers import decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from benchmarks.schema_types import SCHEMA_TYPES, generate
from inferlet import Context, Ebnf, JsonSchema, Model, Sampler, runtime
from pie_mlx import Engine
from pie_mlx.bench import masks
from pie_mlx.calls import GrammarSource
from pie_mlx.engine.text.grammar import GrammarService, Matcher
from pie_mlx.engine.text.tokens.tokenizer import PretrainedTokenizer, Tokenizer

SMOKE = ("300", "--streams", "2", "--tokens", "4", "--repeats", "1")
STREAMS = (1, 8, 32)
REPEATS = 10
TOKENS = 64
WALKS = 20
END = "<|im_end|>"
GBNF = r"""root ::= value
value ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" (pair (", " pair)*)? "}"
pair ::= string ": " value
array ::= "[" (value (", " value)*)? "]"
string ::= "\"" [^"\\\n]* "\""
number ::= "-"? [0-9]+ ("." [0-9]+)?
"""
RECORD = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["name", "count"],
}
CONSTRAINTS = {
    "free": None,
    "schema": JsonSchema({"type": "array", "items": RECORD, "minItems": 100}),
    "gbnf": Ebnf(
        r"""root ::= "[" record (", " record){99} "]"
record ::= "{\"name\": " string ", \"count\": " number "}"
string ::= "\"" [^"\\\n]* "\""
number ::= "-"? [0-9]+
"""
    ),
}
"""The same records in either form: more of them than a stream has tokens for."""
CASES = {
    **masks.CASES,
    "regex of a date": (GrammarSource("regex", r"[0-9]{4}-[0-9]{2}-[0-9]{2}"), "2026-11-21"),
    "JSON in GBNF": (GrammarSource("ebnf", GBNF), masks.ORDER_TEXT),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; masks in microseconds."""

    case: str
    way: str
    compile_milliseconds: float
    masks: Sequence[float]

    def __str__(self) -> str:
        p50, p99, most = np.percentile(self.masks, [50, 99, 100])
        return f"{self.case:18} {self.way:20} {self.compile_milliseconds:9.1f} {p50:9.1f} {p99:9.1f} {most:9.0f}"


def train(size: int) -> Tokenizer:
    """A byte-level BPE of up to `size` tokens. A small one needs little to learn them from."""
    sources = sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py"))[:size]
    backend = tokenizers.Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator((path.read_text(errors="replace") for path in sources), trainer)
    return Tokenizer(cast("PretrainedTokenizer", PreTrainedTokenizerFast(tokenizer_object=backend, eos_token=END)))


def timed(work: Callable[[], object]) -> float:
    """Seconds."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def walked(walk: Callable[[], list[float]]) -> list[float]:
    """Microseconds of the masks of all walks."""
    return [time for _ in range(WALKS) for time in walk()]


def through_matcher(service: GrammarService, source: GrammarSource, tokens: Sequence[int]) -> tuple[float, list[float]]:
    """Milliseconds to compile, and the masks."""
    made: list[Matcher | None] = []
    compile_seconds = timed(lambda: made.append(service.compile(source)))
    matcher = made[0]
    if matcher is None:
        return compile_seconds * 1e3, []

    return compile_seconds * 1e3, walked(lambda: masks.matcher_masks(matcher.fork(), tokens))


def llguidance_directly(
    tokenizer: llguidance.LLTokenizer, source: GrammarSource, tokens: Sequence[int], size: int
) -> tuple[float, list[float]]:
    """The same by llguidance's own interface."""
    made: list[llguidance.LLMatcher] = []
    seconds = timed(lambda: made.append(llguidance.LLMatcher(tokenizer, masks.llguidance_grammar(source))))
    return seconds * 1e3, walked(lambda: masks.llguidance_masks(made[0].deep_copy(), tokens, size))


def rows(size: int, cases: Sequence[str]) -> Iterator[Row]:
    """The named cases on a vocabulary of this size."""
    tokenizer = train(size)
    padded = -(-tokenizer.size // 64) * 64
    print(f"\nvocabulary of {tokenizer.size}")
    print(f"{'case':18} {'way':20} {'compile':>9} {'mask p50':>9} {'p99':>9} {'most':>9}  ms, us, us, us")
    service = GrammarService(tokenizer, padded, tokenizer.eos_ids)
    direct = llguidance.LLTokenizer(tokenizer.backend.to_str(), n_vocab=padded, eos_token=tokenizer.eos_ids)
    service.compile(GrammarSource("regex", "warm up"))
    service.compile(GrammarSource("ebnf", 'root ::= "warm up"'))
    for case in cases:
        source, text = CASES[case]
        tokens = tokenizer.encode(text)
        yield Row(case, "Matcher", *through_matcher(service, source, tokens))
        if source.kind != "ebnf":  # its own reading of GBNF allows other text
            yield Row(case, "llguidance directly", *llguidance_directly(direct, source, tokens, padded))


async def decode(streams: int, way: str, *, tokens: int = TOKENS) -> tuple[float, float]:
    """Seconds, and seconds of processor time, per token of so many streams on pie-tiny. Every stream emits all its
    tokens: it has no stop tokens, and no constraint ends before."""
    model = Model.load(runtime.models()[0])
    root = Context(model).user("Write some JSON.").cue()
    forks = [root.fork() for _ in range(streams)]

    async def one(seed: int) -> int:
        sampler = Sampler.multinomial(1.0, seed=seed + 1)
        given = CONSTRAINTS[way]
        generator = forks[seed].generate(sampler, max_tokens=tokens, stop=[], auto_flush=False, constrain=given)
        return len(await generator.collect_tokens())

    start, cpu_start = time.perf_counter(), time.process_time()
    emitted = sum(await asyncio.gather(*(one(seed) for seed in range(streams))))
    return (time.perf_counter() - start) / emitted, (time.process_time() - cpu_start) / emitted


async def end_to_end(given: dict[str, Any]) -> None:
    """Free and constrained decoding side by side."""
    heads = ("streams", "constraint", "tokens/s", "cost", "processor")
    repeats, tokens = given["repeats"], given["tokens"]
    print(f"\n{{:>7}} {{:12}} {{:>9}} {{:>8}} {{:>10}}  {repeats} rounds, {tokens} tokens each".format(*heads))
    for streams in given["streams"]:
        times: dict[str, list[tuple[float, float]]] = {way: [] for way in ("free", *given["constraints"])}
        for _ in range(repeats):  # taking turns, so that a busy machine slows down all
            for way, found in times.items():
                found.append(await decode(streams, way, tokens=tokens))
        for way, found in times.items():
            wall, cpu = _costs(found, times["free"])
            costs = "" if way == "free" else f"{wall:+8.1%} {cpu:+10.1%}"
            print(f"{streams:7} {way:12} {1 / min(wall for wall, _ in found):9.0f} {costs}", flush=True)


def _costs(times: Sequence[tuple[float, float]], free: Sequence[tuple[float, float]]) -> list[float]:
    """How much more time, and processor time, than unconstrained decoding in the same round: the median of all rounds.

    A machine that is slow for a while is slow for a whole round.
    """
    return [
        statistics.median(mine[kind] / theirs[kind] for mine, theirs in zip(times, free, strict=True)) - 1
        for kind in (0, 1)
    ]


async def check_generations(input: dict[str, int]) -> None:
    """So many generations for every type of schema: do they parse and validate?"""
    model = Model.load(runtime.models()[0])
    generations = input["generations"]
    print(f"{'schema':20} {'valid':>6} {'wrong':>6} {'cut':>5} {'distinct':>9} {'tokens':>7} {'seconds':>8}")
    for kind, schema in SCHEMA_TYPES.items():
        start = time.perf_counter()
        found = await generate(model, schema, generations)
        seconds = time.perf_counter() - start
        print(
            f"{kind:20} {found.valid:6} {len(found.wrong):6} {found.cut_short:5} {found.distinct:9} {found.tokens:7}"
            f" {seconds:8.1f}",
            flush=True,
        )
        for text in found.wrong[:3]:
            print(f"    {text}")


def parsed_arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grammar")
    parser.add_argument("sizes", nargs="*", type=int, default=[32_000, 150_000], metavar="VOCABULARY_SIZE")
    parser.add_argument("--generations", type=int, help="check so many generations for every type of schema")
    constraints = [way for way in CONSTRAINTS if way != "free"]
    parser.add_argument("--streams", nargs="*", type=int, default=STREAMS, help="decode with so many streams")
    parser.add_argument("--constraints", nargs="+", choices=constraints, default=constraints, help="decode under these")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES), help="time these masks")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="decode so many tokens per stream")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="decode so often with each")
    return parser.parse_args(words)


async def measure(arguments: argparse.Namespace) -> None:
    """Print the tables."""
    async with Engine("pie-tiny", total_pages=1024) as engine:
        if arguments.generations:
            await engine.run(check_generations, {"generations": arguments.generations})
            return
        for size in arguments.sizes:
            for row in rows(size, arguments.cases) if size else ():
                print(row, flush=True)
        if arguments.streams:
            await engine.run(end_to_end, vars(arguments))


def main(words: Sequence[str] | None = None) -> None:
    asyncio.run(measure(parsed_arguments(words)))


if __name__ == "__main__":
    main()
