"""Greedy scores of the shipped model on held-out conversations, through the engine, one row per task.

Held out are templates and content alike: every list of the generator keeps an eighth of its items for this table (facts
must be known, so there only the wording is new). `--split train` scores fresh samples of the training distribution,
which separates what was not learned from what does not generalise.
"""

import argparse
import asyncio
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from inferlet import Context, Model, Sampler, runtime
from inferlet.tools import native_grammar
from pie_mlx.runtime.engine import run
from tools.tiny.chat import TURN_END, prompt, render
from tools.tiny.scoring import Judgement, judge
from tools.tiny.text import FAMILIES, Sample, Split, tool_use
from tools.tiny.text.independent import make_independent_call
from tools.tiny.text.mixture import make_of
from tools.tiny.text.sample import Tool

PROMPT_TOKENS = 200
SHIPPED = Path(__file__).parents[2] / "pie_mlx" / "engine" / "model" / "embedded" / "pie-tiny"
MAX_TOKENS = 160
AT_A_TIME = 48

Generate = Callable[[list[str], int], list[str]]
"""(prompts, most tokens) -> answers, greedy, special tokens kept, turn end included where it was generated."""


@dataclass(frozen=True)
class Row:
    """Scores of one task in percent; `parsed` is None where no JSON is asked for."""

    task: str
    items: int
    right: float
    ended: float
    parsed: float | None


@dataclass(frozen=True)
class Answered:
    sample: Sample
    answer: str
    judgement: Judgement


def heldout_samples(per_family: int, seed: int = 1000, split: Split = "heldout") -> list[Sample]:
    return [make_of(family, seed, number, split) for family in FAMILIES for number in range(per_family)]


def independent_calls(count: int, generate: Generate) -> list[Answered]:
    """Calls in wordings by somebody who had seen none of the generator's."""
    return answer_all([make_independent_call(1000, number) for number in range(count)], generate)


def enforced_calls(model_path: Path, per_family: int) -> list[Answered]:
    """Held-out turns that call, with the form of the calls and the offered tools enforced by a grammar."""
    families = (tool_use.make_calls, tool_use.make_two_calls)
    samples = [make_of(family, 1000, number, "heldout") for family in families for number in range(per_family)]
    calling = [sample for sample in samples if sample.check.kind == "calls"]
    prompts = [(prompt(sample), list(sample.tools)) for sample in calling]
    return _judged(calling, _run_all(prompts, MAX_TOKENS, model_path))


def answer_all(samples: list[Sample], generate: Generate) -> list[Answered]:
    return _judged(samples, generate([prompt(sample) for sample in samples], MAX_TOKENS))


def _judged(samples: list[Sample], answers: list[str]) -> list[Answered]:
    return [Answered(s, a, judge(a, s.check)) for s, a in zip(samples, answers, strict=True)]


def _percent(flags: list[bool]) -> float:
    return 100 * sum(flags) / len(flags)


def table(answered: list[Answered]) -> list[Row]:
    by_task: defaultdict[str, list[Judgement]] = defaultdict(list)
    for item in answered:
        by_task[item.sample.task].append(item.judgement)
    rows: list[Row] = []
    for task, judgements in sorted(by_task.items()):
        parsed = [j.parsed for j in judgements if j.parsed is not None]
        rows.append(
            Row(
                task,
                len(judgements),
                _percent([j.right for j in judgements]),
                _percent([j.ended for j in judgements]),
                _percent(parsed) if parsed else None,
            )
        )
    return rows


def markdown(rows: list[Row]) -> str:
    lines = ["| task | items | right % | turn ended % | JSON parsed % |", "|---|---|---|---|---|"]
    for row in rows:
        parsed = "" if row.parsed is None else f"{row.parsed:.0f}"
        lines.append(f"| {row.task} | {row.items} | {row.right:.1f} | {row.ended:.1f} | {parsed} |")
    items = sum(row.items for row in rows)
    ended = sum(row.ended * row.items for row in rows) / items
    lines.append(f"| all | {items} | {sum(row.right * row.items for row in rows) / items:.1f} | {ended:.1f} | |")
    return "\n".join(lines)


async def _answer(model: Model, gate: asyncio.Semaphore, text: str, schemas: list[Tool], most: int) -> str:
    async with gate:
        grammar = native_grammar(model, schemas) if schemas else None
        with Context(model) as context:
            context.append(model.tokenizer().encode(text))
            # The prompt ends with the cue of the template; one more is a text that the model has never seen.
            stops = model.info.formats.stop_tokens
            steps = context.generate(Sampler.argmax(), max_tokens=most, stop=stops, constrain=grammar, auto_flush=False)
            answer = model.tokenizer().decode(await steps.collect_tokens()).removesuffix(TURN_END)
            return answer + (TURN_END if steps.finish_reason in ("stop", "grammar") else "")


async def _answers(input: dict[str, Any]) -> list[str]:
    """The program that answers all prompts, as many at a time as the engine puts into one batch."""
    model = Model.load(runtime.models()[0])
    gate = asyncio.Semaphore(AT_A_TIME)
    return await asyncio.gather(
        *(_answer(model, gate, text, schemas, input["most"]) for text, schemas in input["prompts"])
    )


def engine_generate(model_path: Path) -> Generate:
    """Greedy answers through the engine of this package, batched."""

    def generate(prompts: list[str], most: int) -> list[str]:
        return _run_all([(text, []) for text in prompts], most, model_path)

    return generate


def _run_all(prompts: list[tuple[str, list[Tool]]], most: int, model_path: Path) -> list[str]:
    return run(_answers, {"prompts": prompts, "most": most}, model=str(model_path))


async def _first_tokens(input: dict[str, Any]) -> list[float]:
    """The program that measures: seconds from a prompt nobody has seen to its first token."""
    model = Model.load(runtime.models()[0])
    seconds: list[float] = []
    for number in range(input["times"]):
        prompt = [100 + (number * 7919 + place * 104729) % 1900 for place in range(PROMPT_TOKENS)]
        started = time.perf_counter()
        with Context(model) as context:
            context.append(prompt)
            await context.generate(Sampler.argmax(), max_tokens=1, stop=[], auto_flush=False).collect_tokens()
        seconds.append(time.perf_counter() - started)
    return seconds[1:]


def first_token_seconds(model_path: Path) -> float:
    """The median of 30."""
    return statistics.median(run(_first_tokens, {"times": 31}, model=str(model_path)))


def show_failures(answered: list[Answered], count: int) -> None:
    shown: defaultdict[str, int] = defaultdict(int)
    for item in answered:
        task = item.sample.task
        if item.judgement.right or shown[task] >= count:
            continue
        shown[task] += 1
        print(f"--- {task}\n{render(item.sample)[-700:]}\n>>> {item.answer}")


def score(split: Split, items: int, generate: Generate, failures: int) -> list[Row]:
    begin = time.perf_counter()
    answered = answer_all(heldout_samples(items, split=split), generate)
    rows = table(answered)
    show_failures(answered, failures)
    print(f"{split}\n{markdown(rows)}\n{len(answered)} answers in {time.perf_counter() - begin:.0f} s\n")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=SHIPPED)
    parser.add_argument("--items", type=int, default=60, help="conversations per family and split")
    parser.add_argument("--split", choices=["heldout", "train", "both"], default="heldout")
    parser.add_argument("--failures", type=int, default=0, help="wrong answers to print per task")
    parser.add_argument("--scores", type=Path, help="file for the rows as JSON (for the model card)")
    arguments = parser.parse_args()
    splits: list[Split] = ["heldout", "train"] if arguments.split == "both" else [arguments.split]
    generate = engine_generate(arguments.model)
    rows = {split: score(split, arguments.items, generate, arguments.failures) for split in splits}
    enforced = table(enforced_calls(arguments.model, arguments.items))
    print(f"calls that a grammar enforces\n{markdown(enforced)}\n")
    independent = table(independent_calls(arguments.items * 5, generate))
    print(f"calls in independent wordings\n{markdown(independent)}\n")
    first_token_ms = first_token_seconds(arguments.model) * 1000
    print(f"first token of a prompt of {PROMPT_TOKENS} tokens: {first_token_ms:.0f} ms")
    if arguments.scores:
        tables = {**rows, "enforced": enforced, "independent": independent}
        found = {name: [asdict(row) for row in of] for name, of in tables.items()}
        arguments.scores.write_text(json.dumps({**found, "first_token_ms": first_token_ms}))


if __name__ == "__main__":
    main()
