"""Speculation beside plain decoding, in one run: tokens per pass and time per token.

    python -m benchmarks.speculation [--new-tokens 128] [--repeats 3] [--streams 1 8] [--models pie-tiny] [--pairs 0 1]

Copy-heavy text is what a model writes greedily after records that repeat; free text is drawn at temperature 1, and a
drafter that finds nothing to copy must not slow it down. Rounds of both kinds alternate and medians are compared;
`processor` is the ratio of processor time, which other programs on the machine disturb less. The models are pie-tiny,
which has learned to write, and a random Llama of 9.4 million parameters, which has not but costs more. Below: mlx-lm
on the same weights, and its own speculation, which needs a draft model (here the first layers of the model itself),
one stream and greedy decoding.

`--own 12` asks pie-tiny for what it was trained to write: its own draft head guesses in one engine, another one writes
the same conversations plainly. No prompt comes twice, because of a cached one the head knows nothing. Tokens per pass
are the passes of plain decoding for each one with guesses: the stop token, which no reply shows, takes one as well.

The second part has draft models. How often one is right depends on the pair, and no real pair fits on this machine; so
the pairs are made: one that is right by construction (what the machinery gives at best, at a sixth of the cost per
token), the first layers of pie-tiny for the whole of it, and a draft model that is never right (what it costs at
worst). mlx-lm's speculation runs on the same pairs.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx_lm import load as load_peer
from mlx_lm.generate import generate_step, speculative_generate_step

from benchmarks.draft_pairs import Pair, write_pairs
from benchmarks.random_llama import EMBEDDED, write_random_llama
from inferlet import Context, Model, Sampler, chat, runtime
from pie_mlx import Engine
from pie_mlx.backends import current_backend
from tools.tiny.chat import prompt as prompt_of
from tools.tiny.text import make_sample

SMOKE = ("--new-tokens", "4", "--repeats", "1", "--streams", "1", "--models", "pie-tiny", "--pairs", "2", "--own", "1")
NAMES = ["Anna", "Bert", "Carl", "Dora", "Emil", "Fred", "Gina", "Hans"]
DRAFT_LAYERS, PEER_DRAFTS = 2, 4


def records(stream: int) -> str:
    """Records that repeat, another set for each stream."""
    lines = [f'{{"name": "{NAMES[(stream + place) % 8]}", "age": {20 + 3 * place + stream}}}\n' for place in range(3)]
    return "".join(lines * 3)


def story(stream: int) -> str:
    return f"Once upon a time {NAMES[stream]} lived in a small house near the forest. One day"


@dataclass(frozen=True)
class Text:
    """What is written: prompts by stream, and how tokens are chosen."""

    name: str
    prompt: Any
    sampler: Any


TEXTS = (
    Text("copy-heavy", records, lambda stream: Sampler.argmax()),
    Text("free", story, lambda stream: Sampler.multinomial(1.0, seed=100 + stream)),
)
GREEDY = Text("greedy", story, lambda stream: Sampler.argmax())
MODELS = ("pie-tiny", "random Llama, 9.4M")
PAIRS = range(3)


@dataclass
class Tally:
    """One round: seconds, those of the processor, and what its passes were."""

    seconds: float = 0.0
    processor_seconds: float = 0.0
    tokens: int = 0
    passes: int = 0
    drafted: int = 0
    kept: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))


async def write(text: Text, stream: int, new_tokens: int, tally: Tally, *, speculate: bool) -> list[int]:
    model = Model.load(runtime.models()[0])
    written: list[int] = []
    with Context(model) as context:
        context.append(model.tokenizer().encode(text.prompt(stream)))
        generator = context.generate(
            text.sampler(stream), max_tokens=new_tokens, stop=[], auto_flush=False, system_speculation=speculate
        )
        async for step in generator:
            output = await step.execute()
            written += output.tokens
            tally.passes += 1
            if output.raw is not None:
                tally.drafted += output.raw.drafted
                tally.kept += output.raw.kept
    tally.tokens += len(written)
    return written


async def round_of(engine: Engine, text: Text, streams: int, new_tokens: int, *, speculate: bool) -> tuple[Tally, Any]:
    tally = Tally()

    async def main(input: dict[str, object]) -> list[list[int]]:
        started, worked = time.perf_counter(), time.process_time()
        work = (write(text, stream, new_tokens, tally, speculate=speculate) for stream in range(streams))
        written = await asyncio.gather(*work)
        tally.seconds, tally.processor_seconds = time.perf_counter() - started, time.process_time() - worked
        return list(written)

    return tally, await engine.run(main, {})


async def compare(engine: Engine, text: Text, streams: int, new_tokens: int, repeats: int) -> str:
    plain: list[Tally] = []
    guided: list[Tally] = []
    for number in range(repeats + 1):
        one, expected = await round_of(engine, text, streams, new_tokens, speculate=False)
        other, written = await round_of(engine, text, streams, new_tokens, speculate=True)
        if written != expected:
            print(f"  {text.name}: the tokens differ (logits that are nearly equal)")
        if number:  # the first round warms up
            plain.append(one)
            guided.append(other)
    before, after = milliseconds(plain), milliseconds(guided)
    last = guided[-1]
    work = sum(tally.processor_seconds for tally in plain) / sum(tally.processor_seconds for tally in guided)
    return (
        f"{text.name:12}{streams:8}{before:10.2f}{after:10.2f}{before / after:9.2f}x{work:11.2f}x"
        f"{last.tokens / last.passes:14.2f}{last.drafted:9}{last.kept / max(last.drafted, 1):8.0%}"
    )


async def answer(engine: Engine, prompts: Sequence[str], speculation: Any) -> tuple[Tally, Any]:
    """Greedy replies to some prompts, one after the other; each first token, the prompt's, is left out of the tally."""
    tally = Tally()

    async def main(input: dict[str, object]) -> list[list[int]]:
        return [await reply(prompt, speculation, tally) for prompt in prompts]

    return tally, await engine.run(main, {})


async def reply(prompt: str, speculation: Any, tally: Tally) -> list[int]:
    model = Model.load(runtime.models()[0])
    written: list[int] = []
    with Context(model) as context:
        context.append(model.tokenizer().encode(prompt))
        ends = chat.stop_tokens(model)
        generator = context.generate(
            Sampler.argmax(), max_tokens=160, stop=ends, auto_flush=False, speculation=speculation
        )
        written += (await (await anext(generator)).execute()).tokens
        started, worked = time.perf_counter(), time.process_time()
        async for step in generator:
            output = await step.execute()
            written += output.tokens
            tally.passes += 1
            if output.raw is not None:
                tally.drafted += output.raw.drafted
                tally.kept += output.raw.accepted
        tally.seconds += time.perf_counter() - started
        tally.processor_seconds += time.process_time() - worked
    tally.tokens += max(0, len(written) - 1)
    return written


def conversations(first: int, count: int) -> list[str]:
    """Held-out prompts of the kinds that pie-tiny was trained on."""
    found: list[str] = []
    while len(found) < count:
        text = prompt_of(make_sample(11, first, "heldout"))
        first += 1
        if len(text) < 3000:
            found.append(text)
    return found


async def measure_own(options: argparse.Namespace) -> None:
    """Rounds of plain and of drafted replies take turns, in two engines."""
    print_head("pie-tiny and its own draft head, one stream")
    async with Engine("pie-tiny", total_pages=2048) as plain, Engine("pie-tiny", total_pages=2048) as guided:
        for source in ("mtp", "auto"):
            before, after = Tally(), Tally()
            for number in range(options.repeats + 1):
                prompts = conversations(1000 * number + 100_000 * (source == "auto"), options.own)
                one, expected = await answer(plain, prompts, None)
                other, written = await answer(guided, prompts, source)
                if written != expected:
                    print(f"  {source}: the tokens differ (logits that are nearly equal)")
                if number:  # the first round warms up
                    before, after = before + one, after + other
            slow, fast = milliseconds([before]), milliseconds([after])
            work = before.processor_seconds / after.processor_seconds
            print(
                f"{source:12}{1:8}{slow:10.2f}{fast:10.2f}{slow / fast:9.2f}x{work:11.2f}x"
                f"{before.passes / after.passes:14.2f}{after.drafted:9}{after.kept / max(after.drafted, 1):8.0%}",
                flush=True,
            )


def milliseconds(rounds: Sequence[Tally]) -> float:
    """Per token, at the median round."""
    return 1e3 * statistics.median(tally.seconds / tally.tokens for tally in rounds)


def peer(directory: Path, draft: Path | None, text: str, name: str, new_tokens: int, repeats: int) -> str:
    """mlx-lm's plain and speculative decoding of a text, one stream, greedily; `draft` None takes the first layers."""
    model, tokenizer, *_ = load_peer(str(directory))
    smaller: Any = load_peer(str(draft or directory))[0]
    if draft is None:
        smaller.model.layers = smaller.model.layers[:DRAFT_LAYERS]
    prompt = mx.array(tokenizer.encode(text, add_special_tokens=False))
    plain: list[float] = []
    guided: list[float] = []
    for number in range(repeats + 1):
        seconds = timed(generate_step(prompt, model, max_tokens=new_tokens))
        other = timed(
            speculative_generate_step(prompt, model, smaller, max_tokens=new_tokens, num_draft_tokens=PEER_DRAFTS)
        )
        if number:
            plain.append(1e3 * seconds / new_tokens)
            guided.append(1e3 * other / new_tokens)
    before, after = statistics.median(plain), statistics.median(guided)
    return f"{name:14}{1:6}{before:10.2f}{after:10.2f}{before / after:9.2f}x"


def timed(steps: Any) -> float:
    started = time.perf_counter()
    for _ in steps:
        pass
    return time.perf_counter() - started


def print_head(title: str) -> None:
    print(f"\n{title}, milliseconds per token")
    print(
        f"{'text':12}{'streams':>8}{'plain':>10}{'drafted':>10}{'ratio':>10}{'processor':>12}{'tokens/pass':>14}{'drafts':>9}{'right':>8}"
    )


async def measure(name: str, directory: Path, options: argparse.Namespace) -> None:
    print_head(name)
    async with Engine(directory, total_pages=2048) as engine:
        for text in TEXTS:
            for streams in options.streams:
                print(await compare(engine, text, streams, options.new_tokens, options.repeats), flush=True)
    print(peer(directory, None, records(0), "mlx-lm, copy", options.new_tokens, options.repeats), flush=True)


async def measure_pair(pair: Pair, options: argparse.Namespace) -> None:
    print_head(pair.name)
    async with Engine(pair.model, draft_model=str(pair.draft), total_pages=1024) as engine:
        for text in (GREEDY, TEXTS[1]):
            for streams in options.streams:
                print(await compare(engine, text, streams, options.new_tokens, options.repeats), flush=True)
    print(peer(pair.model, pair.draft, story(0), "mlx-lm, greedy", options.new_tokens, options.repeats), flush=True)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--new-tokens", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--models", nargs="*", choices=MODELS, default=MODELS, help="of the first part")
    parser.add_argument("--pairs", type=int, nargs="*", choices=PAIRS, default=PAIRS, help="of the second")
    parser.add_argument("--own", type=int, default=0, help="conversations of a round for pie-tiny's own head")
    options = parser.parse_args(words)
    print(f"matrix products of both: {current_backend().prepare()}")
    with tempfile.TemporaryDirectory() as directory:
        write_random_llama(Path(directory))
        for name in options.models:
            asyncio.run(measure(name, EMBEDDED if name == "pie-tiny" else Path(directory), options))
        if options.own:
            asyncio.run(measure_own(options))
        pairs = write_pairs(Path(directory)) if options.pairs else []
        for place in options.pairs:
            asyncio.run(measure_pair(pairs[place], options))


if __name__ == "__main__":
    main()
