"""A kernel that fails while an engine works is used no more; what was asked is computed on MLX operations."""

import asyncio
import logging
from collections.abc import Sequence

import mlx.core as mx
import numpy as np
import pytest

from inferlet import Context
from pie_mlx.backends import using
from pie_mlx.calls import SampledTokens, Sampler
from pie_mlx.engine.kv import PageCopy
from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.parts import in_one
from pie_mlx.engine.model.runner.batch import Batch, BatchEntry, LogitsRequest, Outcome
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.errors import BatchFailedError
from pie_mlx.metal import faults
from pie_mlx.metal.emulator import Builder, Emulator
from pie_mlx.metal.launcher import KernelLauncher, emulator_launcher
from pie_mlx.metal.page_pool.kernel_pool import KernelPool
from tests.addresses import addresses
from tests.backends.played import played_gpu
from tests.engine.running import running
from tests.metal.behaviour.test_engine import PAGE_SIZE, loaded
from tests.metal.failing import NEVER_COMPILES, RUNS_WRONG, Failing, How


@pytest.fixture(autouse=True)
def _the_device_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faults, "BUILD_MARKS", (*faults.BUILD_MARKS, NEVER_COMPILES))
    monkeypatch.setattr(faults, "RUN_MARK", RUNS_WRONG)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


# An engine.


async def told_on(launcher: KernelLauncher | None) -> list[list[int]]:
    """A prompt and some tokens of it, two forks within a page, and all going on at once."""
    with using(played_gpu(launcher)), running(total_pages=64) as engine:
        context = Context(engine.model).append(engine.prompt(20))
        first = await engine.greedy(context, 4)
        forks = [context.fork().append(engine.prompt(3, seed=seed)) for seed in (1, 2)]
        sampler = Sampler.top_p(0.8, 0.9)
        drawn = [fork.generate(sampler, max_tokens=3, stop=[], auto_flush=False).collect_tokens() for fork in forks]
        return [first, *await asyncio.gather(*drawn, engine.greedy(context, 4))]


@pytest.mark.parametrize(("how", "good"), [("compile", 0), ("pipeline", 30), ("launch", 50), ("run", 30)])
async def test_a_batch_whose_kernel_fails_is_computed_without_it(
    how: How, good: int, builder: Builder, caplog: pytest.LogCaptureFixture
) -> None:
    expected = await told_on(None)
    failing = Failing(builder, "paged_attention", how, good)
    assert await told_on(failing.launcher) == expected
    assert good < failing.launches <= good + 3  # once ahead of those who ask, once for them
    (line,) = warnings(caplog)
    assert line.startswith("metal: MLX operations are used instead of ")
    assert "\n" not in line


# A runner.

TABLES = ([7, 2, 30, 5], [11, 40, 3, 21])


def entry(context: int, tokens: Sequence[int], held: int, table: Sequence[int] | None = None) -> BatchEntry:
    """`tokens` after `held` others; draws the most likely token after them."""
    pages, length = table or TABLES[context], held + len(tokens)
    places = range(held, length)
    slots = [pages[place // PAGE_SIZE] * PAGE_SIZE + place % PAGE_SIZE for place in places]
    reads = (LogitsRequest(len(tokens) - 1, Sampler.argmax()),)
    return BatchEntry(context, tokens, list(places), slots, pages[: -(-length // PAGE_SIZE)], length, reads=reads)


async def running_on(launcher: KernelLauncher | None) -> Runner:
    runner = Runner()
    await runner.load(in_one(lambda: loaded("llama", launcher)))
    return runner


def drawn(outcome: Outcome) -> list[int]:
    return [token for (value,) in outcome.results for token in value.tokens if isinstance(value, SampledTokens)]  # type: ignore[misc]


async def forked(runner: Runner) -> list[int]:
    """Two tokens of a context that is cut within its last page and of a copy made before: both write in that page."""
    first = await runner.run(Batch((entry(0, range(5, 18), 0),)))
    copies = (PageCopy(source=2, target=40, rows=5),)
    both = Batch((entry(0, [9, 8], 10), entry(1, [4], 13, [7, 40, 3, 21])), copies)
    second = await runner.run(both)
    third = await runner.run(Batch((entry(0, [6], 12), entry(1, [6], 14, [7, 40, 3, 21]))))
    runner.close()
    return [token for outcome in (first, second, third) for token in drawn(outcome)]


@pytest.mark.parametrize(
    ("kernel", "how"), [("page_copy", "launch"), ("kv_write", "compile"), ("paged_attention", "launch")]
)
async def test_copies_that_go_with_a_failed_batch_are_made_of_what_was_there_before_it(
    kernel: str, how: How, builder: Builder
) -> None:
    expected = await forked(await running_on(None))
    whole = Failing(builder, kernel, how, good=1 << 30)
    assert await forked(await running_on(whole.launcher)) == expected
    for good in range(0, whole.launches, 4):
        assert await forked(await running_on(Failing(builder, kernel, how, good).launcher)) == expected


@pytest.mark.parametrize("kernel", ["page_gather", "page_scatter", "page_copy"])
async def test_pages_that_move_when_a_kernel_fails_keep_what_they_hold(kernel: str, builder: Builder) -> None:
    async def moved(launcher: KernelLauncher | None) -> list[np.ndarray]:
        runner = await running_on(launcher)
        await runner.run(Batch((entry(0, range(5, 18), 0),)))
        held = await runner.move_pages(lambda pool: pool.read_pages([7, 2]))
        await runner.copy_pages([(7, 1, PAGE_SIZE), (2, 7, 5)])
        await runner.move_pages(lambda pool: pool.write_pages([33, 4], held))
        found = await runner.move_pages(lambda pool: pool.read_pages([7, 1, 33, 4]))
        runner.close()
        return [array for pair in found for array in pair]

    for ours, theirs in zip(await moved(Failing(builder, kernel, "compile").launcher), await moved(None), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


async def test_a_pool_goes_on_where_it_lies(builder: Builder) -> None:
    runner = await running_on(Failing(builder, "kv_write", "compile", good=4).launcher)
    pool = runner.model.pool
    assert isinstance(pool, KernelPool)
    before = addresses([array for layer in pool.layers for array in (layer.keys, layer.values)])
    del pool
    for step in range(3):
        await runner.run(Batch((entry(0, [5, 6], 2 * step),)))
    assert not runner.model.pool.ordered
    assert addresses(runner.model.pool.arrays()) == before
    runner.close()


async def test_a_kernel_that_others_can_stand_in_for_takes_none_with_it(builder: Builder) -> None:
    failing = Failing(builder, "paged_prefill", "pipeline")
    runner = await running_on(failing.launcher)
    for _ in range(2):
        await runner.run(Batch((entry(0, range(5, 18), 0),)))
    assert isinstance(runner.model.pool, KernelPool)
    assert runner.model.pool.launcher.disabled == {"paged_prefill"}
    assert failing.launches == 1
    runner.close()


@pytest.mark.parametrize(
    ("says", "fails", "stays"),
    [
        ("Caused GPU Hang Error (00000003:kIOGPUCommandBufferCallbackErrorHang)", False, False),
        ("Caused GPU Address Fault Error (0000000b:kIOGPUCommandBufferCallbackErrorPageFault)", False, False),
        (
            "Discarded (victim of GPU error/recovery) (00000005:kIOGPUCommandBufferCallbackErrorInnocentVictim)",
            False,
            True,
        ),
        ("Impacting Interactivity (0000000e:kIOGPUCommandBufferCallbackErrorImpactingInteractivity)", False, True),
        ("Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)", True, True),
    ],
)
async def test_kernels_are_condemned_only_for_what_they_can_have_done(
    says: str, fails: bool, stays: bool, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faults, "RUN_MARK", "[METAL] Command buffer execution failed")
    runner = await running_on(emulator_launcher(Emulator(builder)))
    batch = Batch((entry(0, [5, 6], 0),))
    expected = await runner.run(batch)
    compute, errors = LoadedModel.compute, [RuntimeError(f"[METAL] Command buffer execution failed: {says}.")]

    def failing(model: LoadedModel, *outputs: mx.array) -> None:
        compute(model, *outputs)
        if errors:
            raise errors.pop()

    monkeypatch.setattr(LoadedModel, "compute", failing)
    if fails:
        with pytest.raises(BatchFailedError, match="Insufficient Memory"):
            await runner.run(batch)
    else:
        assert drawn(await runner.run(batch)) == drawn(expected)
    assert runner.model.pool.ordered == stays
    runner.close()
