"""No two operations of an engine's story touch the pool unordered, in whatever order and encoders MLX puts them."""

import asyncio
import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random

import mlx.core as mx
import pytest

from inferlet import Context
from pie_mlx.backends import using
from pie_mlx.backends.kernels import EmulatorBackend
from pie_mlx.engine.paging.spill.costs import SpillCosts
from pie_mlx.errors import BatchFailedError
from pie_mlx.metal import arrays
from pie_mlx.metal.emulator import Builder
from pie_mlx.metal.emulator.encoder import Replay, find_hazards, surely_ordered
from pie_mlx.metal.emulator.story import Story
from pie_mlx.metal.launcher import KernelLauncher
from pie_mlx.metal.page_pool.kernel_pool import KernelPool
from pie_mlx.metal.page_pool.pool import KvPool, SlotWrite
from pie_mlx.metal.page_pool.shapes import LayerShape
from tests.engine.acts import WARM, Act, live
from tests.engine.running import Running, running, small_prompt
from tests.metal.recording import Recorder

ARCHITECTURES = ["llama", "qwen3", "gemma3_text", "gpt_oss", "qwen3_next", "deepseek_v3"]
"""The last two: recurrent layers, and latents, whose chunks MLX operations compute over gathered pages."""
MOST_REPLAYS, FEW_REPLAYS = 40, 2
Tell = Callable[[str], Story]
PROGRAMS = (
    [Act("generate", 3), Act("fork", 3), Act("probe", 3), Act("truncate", 2), Act("generate", 2, WARM)],
    [Act("feed", 5), Act("generate", 6, WARM), Act("suspend"), Act("generate", 3)],
)


@contextmanager
def recorded(builder: Builder, **settings: object) -> Iterator[tuple[Running, Story]]:
    """An engine on the emulator, and the story of its pool. Spilling is the cheaper way, whatever the machine, and
    kernels move pages: what the host moves, it moves alone."""
    recorder = Recorder(builder)
    with pytest.MonkeyPatch.context() as patch, recorder.recording() as story:
        patch.setattr("pie_mlx.engine.paging.spill.spill.measure_costs", lambda disk: SpillCosts(1e15, 1e15))
        patch.setattr("pie_mlx.metal.page_pool.pool.shares_memory", lambda dtype: False)
        with using(EmulatorBackend(recorder.launcher)), running(**settings) as engine:
            engine.prompt = small_prompt  # type: ignore[method-assign]
            yield engine, story


async def tell_everything(engine: Running) -> None:
    """Prefill, decode, forks with a page copy, run-ahead that is kept and dropped, a failed step, spill and restore."""
    await asyncio.gather(*(live(engine, engine.prompt(20, seed), acts) for seed, acts in enumerate(PROGRAMS)))
    context = Context(engine.model)
    context.append(engine.prompt(20, 7))
    await engine.greedy(context, 3)
    await lose_a_step(engine, context)
    context.suspend()
    with Context(engine.model) as other:
        other.inner().reserve_working_pages(engine.store.pool.capacity - engine.store.states.pages_each)
        other.append(engine.prompt(8, 99))
        await other.flush()
    await engine.greedy(context, 3)


async def lose_a_step(engine: Running, context: Context) -> None:
    """A step whose kernels are built when the device fails."""
    model = engine.core.services.runner.model
    forward = model.forward

    def broken(step: object) -> None:
        forward(step)  # type: ignore[arg-type]
        raise RuntimeError("the device is gone")

    model.forward = broken  # type: ignore[method-assign, assignment]
    try:
        context.append([5])
        with pytest.raises(BatchFailedError):
            await context.flush()
    finally:
        model.forward = forward  # type: ignore[method-assign]


@pytest.fixture(scope="module")
def tell(
    builder: Builder, tiny_model_directory: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Tell:
    """The story of an architecture, told once."""

    @functools.cache
    def of(architecture: str) -> Story:
        settings = {"model": str(tiny_model_directory(architecture)), "total_pages": 10}
        with recorded(builder, spill_directory=str(tmp_path_factory.mktemp("spill")), **settings) as (engine, story):
            asyncio.run(tell_everything(engine))
        return story

    return of


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_no_replay_leaves_two_operations_on_the_pool_unordered(tell: Tell, architecture: str) -> None:
    story = tell(architecture)
    assert find_hazards(story, Random(0)) == {}
    assert unordered(story, story.conflicts()) == []


def test_the_story_has_everything_that_touches_the_pool(tell: Tell) -> None:
    kernels = Counter(operation.name for operation in tell("llama").operations)
    wanted = ("kv_write", "paged_attention", "paged_prefill", "page_copy", "page_gather", "page_scatter")
    assert {f"pie_{name}" for name in wanted} <= set(kernels)


@pytest.mark.parametrize("reads", ["rows", "span"])
def test_reads_by_mlx_operations_are_ordered_by_the_host(builder: Builder, reads: str) -> None:
    assert unordered_reads(builder, reads, waits=True) == []


@pytest.mark.parametrize("reads", ["rows", "span"])
def test_a_read_by_mlx_operations_that_does_not_wait_is_found(builder: Builder, reads: str) -> None:
    assert ("pie_kv_write", reads) in unordered_reads(builder, reads, waits=False)


@pytest.mark.parametrize("comes_back", ["revision", "recover"])
def test_older_fences_come_back_only_when_what_has_begun_has_ended(builder: Builder, comes_back: str) -> None:
    recorder = Recorder(builder)
    with recorder.recording() as story:
        pool = small_pool(recorder.launcher)
        restore = pool.revision(range(1)) if comes_back == "revision" else pool.recover
        write_a_page(pool)
        arrays.begin_evaluation(pool.arrays())
        restore()
        write_a_page(pool)
        arrays.evaluate(pool.arrays())
    assert list(story.conflicts()) == [(0, 1)]
    assert unordered(story, story.conflicts()) == []


def small_pool(launcher: KernelLauncher) -> KernelPool:
    return KernelPool([LayerShape(2, 8, 8)], pages=2, page_size=8, dtype=mx.float32, launcher=launcher)


def write_a_page(pool: KernelPool) -> None:
    pool.write(0, mx.ones((8, 2, 8)), mx.ones((8, 2, 8)), SlotWrite(range(8)))


def unordered_reads(builder: Builder, reads: str, *, waits: bool) -> list[tuple[str, str]]:
    """A write, a read by MLX operations, a write: kinds of operations that nothing orders."""
    recorder = Recorder(builder)
    with recorder.recording() as story:
        pool = small_pool(recorder.launcher)
        for _ in range(2):
            write_a_page(pool)
            read = pool if waits else KvPool
            bound = partial(getattr(read, reads), *(() if waits else (pool,)))
            bound(0, mx.arange(4)) if reads == "rows" else bound(0, 2, 6)
        arrays.evaluate(pool.arrays())
    names = [operation.name for operation in story.operations]
    return [(names[earlier], names[later]) for earlier, later in unordered(story, story.conflicts())]


def test_a_step_that_failed_before_it_began_never_runs(tell: Tell) -> None:
    story = tell("llama")
    assert 0 < len(story.operations) - len({n for moment in story.moments for n in moment.operations}) < 20


def test_every_fence_that_is_taken_away_is_missed_unless_something_else_orders_what_it_did(tell: Tell) -> None:
    story = tell("llama")
    pairs = list(story.conflicts())
    needless = 0
    for number, array in story.fence_edges():
        changed = story.without(number, array)
        missed = bool(unordered(changed, pairs))
        seeds = range(MOST_REPLAYS if missed else FEW_REPLAYS)
        found = any(Replay(changed, Random(seed)).hazards(pairs) for seed in seeds)
        assert found == missed, story.operations[number].name
        needless += not missed
    assert needless < len(story.fence_edges()) / 2


def unordered(story: Story, pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Conflicting operations that only luck would order."""
    before = surely_ordered(story)
    return [(earlier, later) for earlier, later in pairs if not before[later] >> earlier & 1]
