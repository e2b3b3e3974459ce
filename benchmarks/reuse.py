"""The first token of a prompt that was computed before: from memory, from disk, after a restart, and computed again.

    python -m benchmarks.reuse [--tokens 1000 4000] [--question 16] [--repeats 3] [--small]

Beside mlx-lm, which computes a prompt, and loads it with `load_prompt_cache` from what `save_prompt_cache` wrote to the
same disk. Both have the same weights and the same BLAS; the engine chooses its threads itself, mlx-lm gets one and all:
on a busy machine threads wait for each other. Of an equal prompt both compute the last token; with a question, its
tokens. A random Llama of 119M parameters, the median of the repeats; files are in the system's cache on both sides. A
prompt takes the pages of the one before, which an engine has on disk once it was idle for some seconds; in a hurry it
copies them first.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
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
from pie_mlx.engine.services import Services
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


class Engines:
    """The engine with one disk cache, and milliseconds by where the pages of a prompt came from."""

    def __init__(self, model: Path, root: Path, tokens: int, question: int) -> None:
        self.times = defaultdict[str, list[float]](list)
        self._stored: list[PagesStored] = []
        self._page_bytes = 0
        self._known, self._tokens, self._question = prompt(tokens, 1), tokens, question
        pages = (tokens + question) // 16 + 3  # a prompt evicts the one before
        settings = DiskCacheSettings(str(root))
        self._start = partial(Engine, str(model), total_pages=pages, disk_cache=settings, on_event=self._heard)

    @property
    def bytes_on_disk_per_byte(self) -> float:
        """Of a page."""
        pages = sum(event.pages for event in self._stored)
        return sum(event.size_bytes for event in self._stored) / max(1, pages) / self._page_bytes

    async def before(self, repeats: int) -> None:
        """In the engine that computes the prompt."""
        async with self._start() as engine:
            await self._ask(engine, "warm-up", self._known)
            for repeat in range(repeats):
                await self._ask(engine, "memory", self._known)
                await self._ask(engine, "computed", prompt(self._tokens, 2 + 2 * repeat))
                await asyncio.wrap_future(await engine.consult(_begin_to_save))
                await self._ask(engine, "disk, same engine", self._known)
                await self._ask(engine, "computed", prompt(self._tokens, 3 + 2 * repeat))
                await self._ask(engine, "disk, same engine, in a hurry", self._known)
            self._page_bytes = await engine.consult(lambda services: services.disk.layout.bytes if services.disk else 0)
        del self.times["warm-up"]

    async def after_restart(self, repeat: int) -> None:
        """In two engines that have computed nothing."""
        async with self._start() as engine:
            await self._ask(engine, "disk, after restart", self._known)
        asked = prompt(self._tokens, repeat, self._question)
        async with self._start() as engine:
            await self._ask(engine, f"disk, {self._question} more", asked)

    async def _ask(self, engine: Engine, what: str, ids: list[int]) -> None:
        await asyncio.sleep(REST_SECONDS)
        self.times[what].append(await engine.run(first_token, {"prompt": ids}))

    def _heard(self, event: Event) -> None:
        if isinstance(event, PagesStored):
            self._stored.append(event)


def _begin_to_save(services: Services) -> "Future[None]":
    return asyncio.run_coroutine_threadsafe(services.queue.save_pages(), asyncio.get_running_loop())


class MlxLm:
    """mlx-lm with a file, and its milliseconds."""

    def __init__(self, model: Path, file: Path) -> None:
        self.times = defaultdict[str, list[float]](list)
        self._file = file
        self._model, _ = load_model(model)

    def compute(self, ids: list[int]) -> None:
        """The first token of a prompt that is computed, and then saved."""
        cache, begun = make_prompt_cache(self._model), time.perf_counter()
        for start in range(0, len(ids) - 1, PREFILL_TOKENS):
            self._model(mx.array([ids[start : min(start + PREFILL_TOKENS, len(ids) - 1)]]), cache=cache)
            evaluate([layer.state for layer in cache])
        computed = time.perf_counter() - begun
        save_prompt_cache(str(self._file), cache)
        self.times["mlx-lm, computed"].append((computed + self._first(ids[-1:], lambda: cache)) * 1e3)

    def load(self, what: str, ids: list[int]) -> None:
        """The first token after a prompt that is loaded and `ids`: with one thread of the BLAS, and with all."""
        for threads, told in ((1, "1 thread"), (ALL_THREADS, "all threads")):
            current_backend().set_threads(threads)
            seconds = self._first(ids, lambda: load_prompt_cache(str(self._file)))
            self.times[f"{what}, {told}"].append(seconds * 1e3)

    def _first(self, ids: list[int], find: Callable[[], Any]) -> float:
        begun = time.perf_counter()
        evaluate(mx.argmax(self._model(mx.array([ids]), cache=find())[0, -1]))
        return time.perf_counter() - begun


def measured(model: Path, directory: Path, tokens: int, question: int, repeats: int) -> dict[str, float]:
    """Medians of both. Loads take turns, so that other work on the machine slows down both."""
    engines = Engines(model, directory / f"kv-{tokens}", tokens, question)
    asyncio.run(engines.before(repeats))
    mlx_lm, known = MlxLm(model, directory / f"{tokens}.safetensors"), prompt(tokens, 1)
    current_backend().set_threads(ALL_THREADS)
    for _ in range(repeats):
        mlx_lm.compute(known)
    for repeat in range(repeats):
        asyncio.run(engines.after_restart(repeat))
        mlx_lm.load("mlx-lm, loaded", known[-1:])
        mlx_lm.load(f"mlx-lm, loaded, {question} more", prompt(tokens, repeat, question)[tokens - 1 :])
    medians = {what: statistics.median(times) for what, times in (engines.times | mlx_lm.times).items()}
    return medians | {"bytes on disk per byte of a page": engines.bytes_on_disk_per_byte}


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
        current_backend().prepare()
        sizes = (arguments.question, arguments.repeats)
        columns = [measured(model, Path(directory), tokens, *sizes) for tokens in arguments.tokens]
        for row in columns[0]:
            digits = 3 if row.startswith("bytes") else 1
            print(f"{row:<36}" + "".join(f"{column[row]:>9,.{digits}f}" for column in columns))


if __name__ == "__main__":
    main()
