"""Pages in 8 and 4 bits: whatever happens to a context, its tokens are those of a run without a break."""

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from inferlet import Context, Sampler
from pie_mlx.engine.settings import DiskCacheSettings
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.events import PagesLoaded, PassCompleted
from pie_mlx.metal import KvPool
from tests.engine.behaviour.test_speculation import Guessing
from tests.engine.paging.spill.test_spill import displace, free_disk, restored  # noqa: F401
from tests.engine.running import Running, engine_alone, finished, in_context, running, small_prompt
from tests.instances import instances
from tests.models import write_tiny_model

PROMPT, WRITTEN = 75, 24
FORMATS = ("int8", "int4")


async def written(context: Context, count: int = WRITTEN, **more: Any) -> list[int]:
    """The greedy text after a context."""
    settings = {"max_tokens": count, "stop": [], "auto_flush": False, **more}
    return await context.generate(Sampler.argmax(), **settings).collect_tokens()


async def alone(engine: Running) -> list[int]:
    """The greedy text after the prompt, in a context of its own."""
    with Context(engine.model) as context:
        return await written(context.append(small_prompt(PROMPT)))


@pytest.fixture(scope="module", params=FORMATS)
def kv_dtype(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def shared(kv_dtype: str) -> Iterator[tuple[Running, list[int]]]:
    """An engine, and what it writes when nothing happens."""
    with engine_alone(kv_dtype=kv_dtype, total_pages=64) as engine:
        yield engine, finished(in_context(engine, alone(engine)))


@pytest.fixture
def engine(shared: tuple[Running, list[int]]) -> Iterator[Running]:
    """The engine, with a process of its own for the test."""
    with shared[0].process():
        yield shared[0]


@pytest.fixture
def expected(shared: tuple[Running, list[int]]) -> list[int]:
    return shared[1]


async def test_forks_go_on_beside_each_other_as_if_alone(engine: Running, expected: list[int]) -> None:
    with Context(engine.model) as source:
        first = await written(source.append(small_prompt(PROMPT)), 8)
        branches = [source, *(source.fork() for _ in range(3))]
        rest = await asyncio.gather(*(written(branch, WRITTEN - 8) for branch in branches))
    assert [first + each for each in rest] == [expected] * 4


async def test_what_was_cut_off_and_saved_leaves_no_trace(engine: Running, expected: list[int]) -> None:
    with Context(engine.model) as context:
        await context.append([*small_prompt(PROMPT), *small_prompt(4, seed=3)]).flush()
        context.truncate(5)
        await context.append(small_prompt(PROMPT)[-1:]).flush()
        context.save("quantised")
    opened = Context.take(engine.model, "quantised")
    assert opened is not None
    opened.truncate(1)
    assert await written(opened.append(small_prompt(PROMPT)[-1:])) == expected


async def test_drafts_save_passes_and_change_no_token(engine: Running, expected: list[int]) -> None:
    with Context(engine.model) as context:
        drafts = Guessing(context.append(small_prompt(PROMPT)), expected, [3], {5})
        assert await written(context, speculator=drafts) == expected
    assert drafts.steps < WRITTEN


async def test_chunks_of_any_size_store_the_same(kv_dtype: str, expected: list[int]) -> None:
    with running(kv_dtype=kv_dtype, total_pages=64, prefill_chunk_tokens=7) as engine:
        assert await alone(engine) == expected


async def test_a_suspended_context_comes_back_from_the_spill_file(
    kv_dtype: str,
    expected: list[int],
    tmp_path: Path,
    free_disk: None,  # noqa: F811
) -> None:
    with running(kv_dtype=kv_dtype, total_pages=12, spill_directory=str(tmp_path)) as engine:
        context = Context(engine.model)
        first = await written(context.append(small_prompt(PROMPT)), 9)
        context.suspend()
        await displace(engine)
        assert first + await written(context, WRITTEN - 9) == expected
        assert (restored(engine).read_pages, restored(engine).replayed_tokens) == (6, 0)


async def test_pages_outlive_the_engine_for_engines_of_their_format(
    kv_dtype: str, expected: list[int], tmp_path: Path
) -> None:
    start = partial(running, total_pages=64, disk_cache=DiskCacheSettings(str(tmp_path)))
    loaded: list[tuple[int, bool]] = []
    others = {"int8": "int4", "int4": "int8"}
    for dtype in (kv_dtype, kv_dtype, others[kv_dtype], "auto"):
        with start(kv_dtype=dtype) as engine:
            found = await alone(engine)
            pages = sum(event.pages for event in engine.events if isinstance(event, PagesLoaded))
            loaded.append((pages, found == expected))
    assert loaded[0] == (0, True)
    assert loaded[1] == (PROMPT // 16, True)
    assert [pages for pages, _ in loaded[2:]] == [0, 0]


async def test_a_draft_model_has_such_pages_too(kv_dtype: str, expected: list[int]) -> None:
    with instances(KvPool) as pools, running(kv_dtype=kv_dtype, total_pages=32, draft_model="pie-tiny") as engine:
        assert [pool.is_quantised for pool in pools] == [True, True]
        with Context(engine.model) as context:
            assert await written(context.append(small_prompt(PROMPT)), system_speculation=True) == expected
        assert sum(isinstance(event, PassCompleted) for event in engine.events) < WRITTEN


OPTIONS: dict[str, dict[str, int]] = {
    "qwen3_next": {"head_dim": 32},
    "lfm2": {"hidden_size": 128, "block_dim": 128},
    "deepseek_v3": {"kv_lora_rank": 64, "qk_rope_head_dim": 32},
}
"""Sizes that make heads of 32 elements and more: a hybrid in equal lengths, one in token rows, and latents."""


@pytest.mark.parametrize("architecture", OPTIONS)
async def test_hybrids_and_latents_are_forked_and_restored_as_well(
    architecture: str,
    tmp_path: Path,
    free_disk: None,  # noqa: F811
) -> None:
    directory = write_tiny_model(tmp_path / "model", architecture, **OPTIONS[architecture])
    settings = {"model": str(directory), "kv_dtype": "int8", "total_pages": 40}
    with running(**settings) as engine:
        expected = await alone(engine)
        assert any(layer.quantisation for layer in engine.core.services.runner.model.layers)
    with running(**settings, spill_directory=str(tmp_path / "spill")) as engine:
        source = Context(engine.model)
        first = await written(source.append(small_prompt(PROMPT)), 9)
        fork = source.fork()
        assert first + await written(source, WRITTEN - 9) == expected
        source.release()
        fork.suspend()
        with Context(engine.model) as other:
            other.inner().reserve_working_pages(
                engine.store.pool.capacity - engine.core.services.runner.model.state_pages
            )
            await other.append(small_prompt(8, 9)).flush()
        assert first + await written(fork, WRITTEN - 9) == expected


def test_heads_that_cannot_be_quantised_stop_the_start(tmp_path: Path) -> None:
    directory = write_tiny_model(tmp_path / "model", "llama")
    with (
        pytest.raises(InvalidArgumentError, match="do not divide the head size 16"),
        running(model=str(directory), kv_dtype="int8"),
    ):
        pass
