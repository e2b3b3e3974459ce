"""Whole models on the emulator: the same greedy tokens as with MLX operations."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

import mlx.core as mx
import numpy as np
import pytest

from benchmarks.tiny_models import tiny_config, tiny_model
from inferlet import Context
from pie_mlx.backends import using
from pie_mlx.engine.model.loaded import LoadedModel, ModelCard
from pie_mlx.engine.model.memory import segments, with_format
from pie_mlx.engine.model.networks.paged_network import PagedNetwork
from pie_mlx.engine.model.step import Segment, StepInput
from pie_mlx.engine.settings import UNCHANGED, KvFormat
from pie_mlx.metal.launcher import KernelLauncher
from pie_mlx.metal.page_pool.kernel_pool import KernelPool
from tests.backends.played import played_gpu
from tests.engine.running import running
from tests.metal.conftest import BUILD_FOLDER

PAGE_SIZE = 8


def loaded(architecture: str, launcher: KernelLauncher | None, kv: KvFormat = UNCHANGED, **sizes: int) -> LoadedModel:
    mx.random.seed(3)
    config = tiny_config(architecture) | sizes
    card = ModelCard(architecture, b"", 512, None, (), config, mx.float32, 0)
    with using(played_gpu(launcher)):
        network = PagedNetwork(tiny_model(architecture, config), architecture)
        model = LoadedModel(card, network, with_format(network.shapes, kv, architecture))
    model.allocate(pages=48, page_size=PAGE_SIZE)
    return model


@dataclass
class Sequence:
    """A context: its tokens with K and V, and the pages that hold them."""

    name: int
    pages: list[int]
    length: int = 0


@dataclass
class Work:
    sequence: Sequence
    tokens: list[int]
    masks: list[list[int]] | None = None


class Driver:
    """Runs batches on a model and hands out pages, as the engine does."""

    def __init__(self, model: LoadedModel, pages: int = 48) -> None:
        self.model = model
        # Neighbours in a context are strangers in memory.
        self._free: Iterator[int] = iter(np.random.default_rng(0).permutation(pages).tolist())
        self._names = iter(range(100))

    def sequence(self) -> Sequence:
        return Sequence(next(self._names), [])

    def run(self, *works: Work) -> list[int]:
        """One step; the greedy token after each work."""
        segments: list[Segment] = []
        slots: list[int] = []
        positions: list[int] = []
        rows: list[int] = []
        for work in works:
            own, count = work.sequence, len(work.tokens)
            while len(own.pages) * PAGE_SIZE < own.length + count:
                own.pages.append(next(self._free))
            places = range(own.length, own.length + count)
            own.length += count
            segments.append(Segment(own.name, len(slots), count, list(own.pages), own.length, work.masks))
            slots += [own.pages[place // PAGE_SIZE] * PAGE_SIZE + place % PAGE_SIZE for place in places]
            positions += list(places)
            rows.append(len(slots) - 1)
        tokens = [token for work in works for token in work.tokens]
        logits = self.model.forward(StepInput(tokens, positions, slots, tuple(segments), rows))
        chosen = mx.argmax(logits, axis=-1)
        self.model.finish(chosen)
        return [int(token) for token in np.asarray(chosen)]

    def fork(self, source: Sequence) -> Sequence:
        """Whole pages are shared, the last one is copied."""
        whole, rest = divmod(source.length, PAGE_SIZE)
        child = Sequence(next(self._names), source.pages[:whole], source.length)
        if rest:
            child.pages.append(next(self._free))
            self.model.pool.copy_pages([(source.pages[whole], child.pages[whole], rest)])
        return child

    def truncate(self, sequence: Sequence, tokens: int) -> None:
        sequence.length -= tokens
        sequence.pages = sequence.pages[: -(-sequence.length // PAGE_SIZE)]

    def move(self, sequence: Sequence) -> None:
        """Suspended to the host, resumed in other pages."""
        content = self.model.pool.read_pages(sequence.pages)
        self.model.pool.write_pages(sequence.pages, [(0 * keys, 0 * values) for keys, values in content])
        sequence.pages = [next(self._free) for _ in sequence.pages]
        self.model.pool.write_pages(sequence.pages, content)


def story(model: LoadedModel) -> list[int]:
    """Mixed batches, a fork, a truncation, a suspended and a shared prefix, draft rows, a mask."""
    driver = Driver(model)
    told: list[int] = []

    def step(*works: Work) -> list[int]:
        tokens = driver.run(*works)
        told.extend(tokens)
        return tokens

    first, second = driver.sequence(), driver.sequence()
    (token,) = step(Work(first, [(7 * i) % 90 + 1 for i in range(21)]))
    for _ in range(2):
        (token,) = step(Work(first, [token]))
    token, other = step(Work(first, [token]), Work(second, [5, 9, 33, 2, 8]))
    child = driver.fork(first)
    for _ in range(2):
        token, other, _ = step(Work(first, [token]), Work(second, [other]), Work(child, [token + 1]))
    driver.truncate(child, 2)  # no further: what it shares nobody writes
    driver.move(second)
    token, other, branch = step(Work(first, [token]), Work(second, [other]), Work(child, list(range(40, 52))))
    step(Work(first, [token, 3, 4]), Work(second, [other]), Work(child, [branch]))
    step(Work(child, [branch], masks=[[5, child.length - 4]]), Work(second, [1, 2], masks=[[0, second.length + 2]] * 2))
    reuse = Sequence(99, first.pages[:2], 2 * PAGE_SIZE)
    step(Work(reuse, [11, 12]), Work(second, [4]))
    return told


def test_a_story_told_in_segments_is_the_same(launcher: KernelLauncher, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = story(loaded("gemma3_text", None))
    begun: list[mx.array] = []
    begin = segments.begin_evaluation

    def counted(array: mx.array) -> None:
        begun.append(array)
        begin(array)

    monkeypatch.setattr(segments, "SEGMENT_BYTES", 1)
    monkeypatch.setattr(segments, "begin_evaluation", counted)
    assert story(loaded("gemma3_text", launcher)) == expected
    assert len(begun) > len(expected)


@pytest.mark.parametrize("architecture", ["llama", "gemma3_text", "gpt_oss", "qwen3", "deepseek_v3", "gemma2"])
def test_greedy_tokens_are_those_of_mlx_operations(architecture: str, launcher: KernelLauncher) -> None:  # Q10
    emulated = loaded(architecture, launcher)
    assert isinstance(emulated.pool, KernelPool)
    expected = story(loaded(architecture, None))
    assert story(emulated) == expected
    assert len(set(expected)) > 5


@pytest.mark.parametrize(
    ("architecture", "kv", "sizes"),
    [
        ("llama", KvFormat("int8"), {"head_dim": 32}),
        ("llama", KvFormat("int4", None, (0,)), {"head_dim": 64}),
        ("deepseek_v3", KvFormat("int8"), {"kv_lora_rank": 64, "qk_rope_head_dim": 32}),
        ("gemma2", KvFormat("int8"), {"head_dim": 32}),
    ],
)
def test_greedy_tokens_of_quantised_pages_are_those_of_mlx_operations(
    architecture: str, kv: KvFormat, sizes: dict[str, int], launcher: KernelLauncher
) -> None:
    emulated = loaded(architecture, launcher, kv, **sizes)
    assert isinstance(emulated.pool, KernelPool)
    expected = story(loaded(architecture, None, kv, **sizes))
    assert story(emulated) == expected


async def told_by_the_engine(*, runs_ahead: bool = False) -> list[list[int]]:
    """A prompt, a fork of it, and both going on at once, through the whole engine."""
    with running(total_pages=64, runs_ahead=runs_ahead) as engine:
        context = Context(engine.model)
        context.append(engine.prompt(20))
        first = await engine.greedy(context, 4)
        fork = context.fork()
        fork.append(engine.prompt(3, seed=1))
        both = await asyncio.gather(engine.greedy(fork, 3), engine.greedy(context, 3))
        return [first, *both]


async def test_the_engine_runs_on_the_emulator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIE_HOME", str(BUILD_FOLDER))
    with using(played_gpu(None)):
        expected = await told_by_the_engine()
    monkeypatch.setenv("PIE_METAL", "emulate")
    assert await told_by_the_engine() == expected
    assert await told_by_the_engine(runs_ahead=True) == expected
