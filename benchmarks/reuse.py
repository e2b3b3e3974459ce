"""The first token of a prompt that was computed before: from memory, from disk, after a restart, and computed again.

    python -m benchmarks.reuse [--tokens 1000 4000] [--repeats 3] [--small]

Beside mlx-lm, which computes a prompt, and loads it with `load_prompt_cache` from what `save_prompt_cache` wrote to the
same disk. A random Llama of 119M parameters, the median of the repeats; files are in the system's cache on both sides.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import mlx.core as mx
from mlx_lm.models.cache import load_prompt_cache, make_prompt_cache, save_prompt_cache
from mlx_lm.utils import load_model

from inferlet import Context, Model, Sampler, runtime
from pie_mlx import Engine
from pie_mlx.bench.random_llama import write_random_llama
from pie_mlx.engine.settings import DiskCacheSettings
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


async def first_token(input: dict[str, list[int]]) -> float:
    """Milliseconds until the first token of a prompt in a context of its own."""
    with Context(Model.load(runtime.models()[0])) as context:
        context.append(input["prompt"])
        begun = time.perf_counter()
        await context.generate(Sampler.argmax(), max_tokens=1, stop=[]).collect_tokens()
        return (time.perf_counter() - begun) * 1e3


def prompt(tokens: int, seed: int) -> list[int]:
    return [40 + (place * 7 + seed * 131) % 400 for place in range(tokens)]


async def median(repeats: int, measure: Callable[[], Awaitable[float]]) -> float:
    return statistics.median([await measure() for _ in range(repeats)])


async def of_engine(directory: Path, root: Path, tokens: int, repeats: int) -> dict[str, float]:
    """Milliseconds by where the pages come from."""
    pages = (tokens // 16 + 2) * (repeats + 1)
    asked = {"prompt": prompt(tokens, 1)}
    settings = DiskCacheSettings(str(root))
    found: dict[str, float] = {}

    async def evicted(engine: Engine) -> float:
        await engine.consult(lambda services: services.queue.empty_cache())
        return await engine.run(first_token, asked)

    async with Engine(str(directory), total_pages=pages, disk_cache=settings) as engine:
        seeds = iter(range(2, 2 + repeats))
        found["computed"] = await median(
            repeats, lambda: engine.run(first_token, {"prompt": prompt(tokens, next(seeds))})
        )
        await engine.run(first_token, asked)
        found["memory"] = await median(repeats, lambda: engine.run(first_token, asked))
    restarts: list[float] = []
    for _ in range(repeats):
        async with Engine(str(directory), total_pages=pages, disk_cache=settings) as engine:
            restarts.append(await engine.run(first_token, asked))
            found["disk, same engine"] = await median(repeats, lambda: evicted(engine))
    found["disk, after restart"] = statistics.median(restarts)
    return found


def of_mlx_lm(directory: Path, file: Path, tokens: int, repeats: int) -> dict[str, float]:
    """The same of mlx-lm."""
    model, _ = load_model(directory)
    ids = prompt(tokens, 1)

    def computed() -> float:
        begun, cache = time.perf_counter(), make_prompt_cache(model)
        for start in range(0, tokens - 1, PREFILL_TOKENS):
            model(mx.array([ids[start : min(start + PREFILL_TOKENS, tokens - 1)]]), cache=cache)
            evaluate([layer.state for layer in cache])
        evaluate(mx.argmax(model(mx.array([ids[-1:]]), cache=cache)[0, -1]))
        if not file.exists():
            save_prompt_cache(str(file), cache)
        return (time.perf_counter() - begun) * 1e3

    def loaded() -> float:
        begun = time.perf_counter()
        cache = load_prompt_cache(str(file))
        evaluate(mx.argmax(model(mx.array([ids[-1:]]), cache=cache)[0, -1]))
        return (time.perf_counter() - begun) * 1e3

    computed()
    return {
        "mlx-lm, computed": statistics.median([computed() for _ in range(repeats)]),
        "mlx-lm, loaded": statistics.median([loaded() for _ in range(repeats)]),
    }


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, nargs="*", default=[1000, 4000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="of 9.4M parameters")
    arguments = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as directory:
        model = Path(directory) / "model"
        model.mkdir()
        write_random_llama(model, **({} if arguments.small else LARGE))
        print(f"{'milliseconds to the first token of':<36}" + "".join(f"{tokens:>9,}" for tokens in arguments.tokens))
        columns = [
            asyncio.run(of_engine(model, Path(directory) / f"kv-{tokens}", tokens, arguments.repeats))
            | of_mlx_lm(model, Path(directory) / f"{tokens}.safetensors", tokens, arguments.repeats)
            for tokens in arguments.tokens
        ]
        for row in columns[0]:
            print(f"{row:<36}" + "".join(f"{column[row]:>9,.1f}" for column in columns))


if __name__ == "__main__":
    main()
