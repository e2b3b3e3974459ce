"""The first token of a prompt that was computed before: from memory, from disk, after a restart, and computed again.

    python -m benchmarks.reuse [--tokens 1000 4000] [--question 16] [--repeats 3] [--small]

Beside mlx-lm, which computes a prompt, and loads it with `load_prompt_cache` from what `save_prompt_cache` wrote to the
same disk. Both have the same weights and the same BLAS. An equal prompt: mlx-lm has kept all of it but the last token,
the engine whole pages. With a question, both compute its tokens after what is known. A random Llama of 119M parameters,
the median of the repeats; files are in the system's cache on both sides.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx_lm.models.cache import load_prompt_cache, make_prompt_cache, save_prompt_cache
from mlx_lm.utils import load_model

from inferlet import Context, Model, Sampler, runtime
from pie_mlx import Engine
from pie_mlx.backends import current_backend
from pie_mlx.backends.base import ALL_THREADS
from pie_mlx.bench.random_llama import write_random_llama
from pie_mlx.engine.settings import DiskCacheSettings
from pie_mlx.events import Event, PagesStored
from pie_mlx.metal.arrays import evaluate

SMOKE = ("--tokens", "64", "--repeats", "1", "--small")
LARGE = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "intermediate_size": 3072,
    "num_attention_heads": 12,
    "num_key_value_heads": 12,
}
"""119 million parameters; a page takes 1.1 MiB."""
PREFILL_TOKENS = 512


REST_SECONDS = 0.3
"""After this the engine has ended what it began for the prompt before."""


async def first_token(input: dict[str, list[int]]) -> float:
    """Milliseconds until the first token of a prompt in a context of its own."""
    with Context(Model.load(runtime.models()[0])) as context:
        context.append(input["prompt"])
        begun = time.perf_counter()
        await context.generate(Sampler.argmax(), max_tokens=1, stop=[], auto_flush=False).collect_tokens()
        return (time.perf_counter() - begun) * 1e3


def prompt(tokens: int, seed: int, question: int = 0) -> list[int]:
    """A known text of so many tokens, and a question that was not asked before."""
    asked = [500 + (place * 11 + seed * 17) % 400 for place in range(question)]
    return [40 + (place * 7 + (seed if not question else 1) * 131) % 400 for place in range(tokens)] + asked


async def of_engine(directory: Path, root: Path, tokens: int, question: int, repeats: int) -> dict[str, float]:
    """Milliseconds by where the pages come from, and the bytes on disk for each byte of a page."""
    pages = (tokens + question) // 16 + 3  # a prompt evicts the one before
    known = prompt(tokens, 1)
    settings = DiskCacheSettings(str(root))
    stored: list[PagesStored] = []
    times = defaultdict[str, list[float]](list)

    def heard(event: Event) -> None:
        if isinstance(event, PagesStored):
            stored.append(event)

    async def ask(engine: Engine, what: str, ids: list[int]) -> None:
        await asyncio.sleep(REST_SECONDS)
        times[what].append(await engine.run(first_token, {"prompt": ids}))

    async with Engine(str(directory), total_pages=pages, disk_cache=settings, on_event=heard) as engine:
        await ask(engine, "warm-up", known)
        for repeat in range(repeats):
            await ask(engine, "memory", known)
            await ask(engine, "computed", prompt(tokens, 2 + repeat))
            await engine.consult(lambda services: services.disk and asyncio.ensure_future(services.disk.flush()))
            await ask(engine, "disk, same engine", known)
        page_bytes = await engine.consult(lambda services: 0 if services.disk is None else services.disk.layout.bytes)
    for repeat in range(repeats):
        async with Engine(str(directory), total_pages=pages, disk_cache=settings, on_event=heard) as engine:
            await ask(engine, "disk, after restart", known)
        async with Engine(str(directory), total_pages=pages, disk_cache=settings, on_event=heard) as engine:
            await ask(engine, f"disk, {question} more tokens", prompt(tokens, repeat, question))
    del times["warm-up"]
    size = sum(event.size_bytes for event in stored) / page_bytes / max(1, sum(event.pages for event in stored))
    return {what: statistics.median(each) for what, each in times.items()} | {"bytes on disk per byte": size}


def of_mlx_lm(directory: Path, file: Path, tokens: int, question: int, repeats: int) -> dict[str, float]:
    """The same of mlx-lm."""
    current_backend().prepare()
    current_backend().set_threads(ALL_THREADS)
    model, _ = load_model(directory)

    def computed(ids: list[int], cache: list[Any]) -> float:
        begun = time.perf_counter()
        for start in range(0, len(ids) - 1, PREFILL_TOKENS):
            model(mx.array([ids[start : min(start + PREFILL_TOKENS, len(ids) - 1)]]), cache=cache)
            evaluate([layer.state for layer in cache])
        if not file.exists():
            save_prompt_cache(str(file), cache)
        evaluate(mx.argmax(model(mx.array([ids[-1:]]), cache=cache)[0, -1]))
        return (time.perf_counter() - begun) * 1e3

    def loaded(ids: list[int]) -> float:
        begun = time.perf_counter()
        cache = load_prompt_cache(str(file))
        evaluate(mx.argmax(model(mx.array([ids]), cache=cache)[0, -1]))
        return (time.perf_counter() - begun) * 1e3

    known = prompt(tokens, 1)
    computed(known, make_prompt_cache(model))
    questions = [prompt(tokens, repeat, question)[tokens - 1 :] for repeat in range(repeats)]
    return {
        "mlx-lm, computed": statistics.median([computed(known, make_prompt_cache(model)) for _ in range(repeats)]),
        "mlx-lm, loaded": statistics.median([loaded(known[-1:]) for _ in range(repeats)]),
        f"mlx-lm, loaded, {question} more tokens": statistics.median([loaded(ids) for ids in questions]),
    }


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, nargs="*", default=[1000, 4000])
    parser.add_argument("--question", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="of 9.4M parameters")
    arguments = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as directory:
        model = Path(directory) / "model"
        model.mkdir()
        write_random_llama(model, **({} if arguments.small else LARGE))
        print(f"{'milliseconds to the first token of':<36}" + "".join(f"{tokens:>9,}" for tokens in arguments.tokens))
        columns: list[dict[str, float]] = []
        for tokens in arguments.tokens:
            sizes = (tokens, arguments.question, arguments.repeats)
            ours = asyncio.run(of_engine(model, Path(directory) / f"kv-{tokens}", *sizes))
            columns.append(ours | of_mlx_lm(model, Path(directory) / f"{tokens}.safetensors", *sizes))
        for row in columns[0]:
            digits = 3 if row.startswith("bytes") else 1
            print(f"{row:<36}" + "".join(f"{column[row]:>9,.{digits}f}" for column in columns))


if __name__ == "__main__":
    main()
