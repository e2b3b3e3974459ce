"""KV that outlives its engine: tokens are those of a run without a break."""

import asyncio
import errno
import os
import shutil
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from inferlet import Adapter, Context
from pie_mlx.engine.handlers.forward import pass_pages
from pie_mlx.engine.handlers.forward.disk_pages import PagesOnDisk
from pie_mlx.engine.model.loading.sources import EMBEDDED
from pie_mlx.engine.paging.disk import batch_writer, directory, disk_cache, idle, opening, page_files, reading
from pie_mlx.engine.paging.disk.identity import WeightDigests
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.scheduler.restoring import Restorer
from pie_mlx.engine.services import Services
from pie_mlx.engine.settings import DiskCacheSettings
from pie_mlx.events import DiskCacheChanged, PagesDropped, PagesLoaded, PagesStored, PassCompleted
from pie_mlx.metal.page_pool import pool
from tests.engine.running import Running, engine_alone, finished, in_context, running
from tests.full_disk import small_disk

pytestmark = pytest.mark.usefixtures("random_model")

__all__ = ["small_disk"]

Start = Callable[..., AbstractContextManager[Running]]

PAGES = 13
"""Those of a prompt of 200 tokens and 8 more: twelve full ones, and the one that was left at the end."""


async def continued(engine: Running, tokens: int = 200, seed: int = 1, count: int = 8) -> list[int]:
    """The greedy continuation of a prompt in a context of its own."""
    with Context(engine.model) as context:
        context.append(engine.prompt(tokens, seed))
        return await engine.greedy(context, count)


async def saved(engine: Running) -> None:
    """Have what is in memory written."""
    queue = engine.core.services.queue
    await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(queue.save_pages(), engine.core.loop))


async def flushed(engine: Running) -> None:
    """Have what waits written."""
    disk = engine.core.services.disk
    assert disk is not None
    await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(disk.flush(), engine.core.loop))


async def opened(engine: Running) -> None:
    """Wait until the disk cache is open."""
    disk = engine.core.services.disk
    assert disk is not None
    await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(disk.opened(), engine.core.loop))


async def emptied(engine: Running) -> None:
    """Forget what is cached in memory."""

    async def empty() -> None:
        engine.core.services.queue.empty_cache()

    await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(empty(), engine.core.loop))


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[int]]:
    """What an engine has left on disk when it stopped, and what it drew."""
    root = tmp_path_factory.mktemp("before") / "kv"
    with engine_alone(disk_cache=DiskCacheSettings(str(root)), total_pages=64) as engine:
        return root, finished(in_context(engine, continued(engine)))


@pytest.fixture
def expected(before: tuple[Path, list[int]]) -> list[int]:
    return before[1]


@pytest.fixture
def root(before: tuple[Path, list[int]], tmp_path: Path) -> Path:
    """A copy of the disk cache for one test."""
    return Path(shutil.copytree(before[0], tmp_path / "kv"))


@pytest.fixture
def start(root: Path) -> Start:
    """Starts an engine with the disk cache of the one before."""
    return partial(running, disk_cache=DiskCacheSettings(str(root)), total_pages=64)


def files(root: Path) -> list[Path]:
    """The batches that lie there, finished or not."""
    return sorted(root.glob("*/*"))


def attached(engine: Running) -> int:
    """Tokens that the first pass did not compute."""
    return next(event for event in engine.events if isinstance(event, PassCompleted)).attached_tokens


def loaded(engine: Running) -> int:
    return sum(event.pages for event in engine.events if isinstance(event, PagesLoaded))


def stored(engine: Running) -> int:
    return sum(event.pages for event in engine.events if isinstance(event, PagesStored))


def dropped(engine: Running) -> int:
    return sum(event.pages for event in engine.events if isinstance(event, PagesDropped))


async def test_a_prompt_is_read_from_disk_after_a_restart(start: Start, expected: list[int]) -> None:
    with start() as engine:
        assert await asyncio.gather(*[continued(engine) for _ in range(3)]) == [expected] * 3
        assert (attached(engine), loaded(engine)) == (192, 12)
    assert stored(engine) == 0


@pytest.mark.parametrize("tokens", [192, 200])
async def test_of_a_prompt_that_was_computed_before_only_the_last_token_is_computed(start: Start, tokens: int) -> None:
    with start(disk_cache=None) as engine:
        expected = await continued(engine, tokens, seed=3)
    with start() as engine:
        await continued(engine, tokens, seed=3, count=1)
    with start() as engine:
        assert await continued(engine, tokens, seed=3) == expected
        assert attached(engine) == tokens - 1


async def test_a_talk_goes_on_from_the_page_on_which_it_ended(start: Start, expected: list[int]) -> None:
    async def next_turn(engine: Running) -> list[int]:
        with Context(engine.model) as context:
            context.append([*engine.prompt(200, 1), *expected, 5, 6, 7])
            return await engine.greedy(context, 8)

    with start(disk_cache=None) as engine:
        drawn = await next_turn(engine)
    with start() as engine:
        assert await next_turn(engine) == drawn
        assert (attached(engine), loaded(engine)) == (207, PAGES)


async def test_only_the_last_page_is_read_if_those_before_are_in_memory(start: Start) -> None:
    with start() as engine:
        first = await continued(engine, seed=3, count=1)
        engine.used_pages()  # the context has ended
        finished(saved(engine))
        engine.events.clear()
        disk = engine.core.services.disk
        assert disk is not None
        disk.prefill.observe([1000], 1e6)  # else it computes the rest of a page sooner
        assert await continued(engine, seed=3, count=1) == first
        assert (attached(engine), loaded(engine)) == (199, 1)


async def test_without_a_disk_cache_nothing_is_written(tmp_path: Path) -> None:
    with running(disk_cache=None) as engine:
        await continued(engine)
    assert stored(engine) == 0
    assert os.listdir(tmp_path) == []


async def test_pages_that_fell_out_of_a_full_pool_are_read_back(start: Start, root: Path, expected: list[int]) -> None:
    shutil.rmtree(root)
    with start(total_pages=20) as engine:
        assert await continued(engine) == expected
        for seed in (2, 3):
            await continued(engine, seed=seed)
        finished(flushed(engine))
        assert loaded(engine) == 0
        assert await continued(engine) == expected
        assert loaded(engine) > 0


async def test_another_user_computes_what_is_on_disk_of_the_first(start: Start, expected: list[int]) -> None:
    with start() as engine, engine.process("somebody else"):
        assert await continued(engine) == expected
        assert loaded(engine) == 0


async def test_users_that_share_find_the_pages_of_each_other(start: Start, root: Path, expected: list[int]) -> None:
    with start(disk_cache=DiskCacheSettings(str(root), shared=True)) as engine, engine.process("somebody else"):
        assert await continued(engine) == expected
        assert loaded(engine) == 12


async def test_neither_pages_of_adapters_nor_those_after_them_are_stored(start: Start) -> None:
    with start() as engine, Adapter.create(engine.model, "style") as adapter, Context(engine.model) as context:
        await context.forward().input(engine.prompt(100, 1)).adapter(adapter).execute()
        await context.forward().input(engine.prompt(100, 2)).execute()
    assert (loaded(engine), stored(engine)) == (0, 0)


async def test_a_directory_that_cannot_be_used_stops_no_engine(start: Start, root: Path, expected: list[int]) -> None:
    os.chmod(root, 0o755)
    with start() as engine:
        assert await continued(engine) == expected
    assert [event.state for event in engine.events if isinstance(event, DiskCacheChanged)] == ["failed"]


async def test_a_store_deleted_while_in_use_changes_no_token(start: Start, root: Path, expected: list[int]) -> None:
    with start() as engine:
        shutil.rmtree(root)
        assert await continued(engine) == expected


async def test_two_engines_use_one_directory_at_once(
    start: Start, root: Path, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_files, "LOOK_SECONDS", 0.0)
    shutil.rmtree(root)
    with start() as one, start() as other:
        assert await continued(other) == expected
        finished(saved(other))
        with one.process("tester"):
            assert await continued(one) == expected
        assert loaded(one) == 12


async def test_a_disk_slower_than_the_model_is_not_read(start: Start, expected: list[int]) -> None:
    with start() as engine:
        await continued(engine, seed=5)
        disk = engine.core.services.disk
        assert disk is not None
        disk.loads.observe(1, 1e6)
        assert await continued(engine) == expected
        assert loaded(engine) == 0


async def test_one_byte_of_the_weights_makes_another_model(start: Start, tmp_path: Path) -> None:
    other = shutil.copytree(EMBEDDED / "pie-tiny", tmp_path / "pie-tiny")
    with start(model=str(other), name="m") as engine:
        await continued(engine)
    (weights,) = other.glob("model*.safetensors")
    weights.write_bytes(weights.read_bytes()[:-1] + b"\1")
    with start(model=str(other), name="m") as engine:
        await continued(engine)
        assert loaded(engine) == 0


async def test_the_same_weights_share_by_whatever_name(start: Start, expected: list[int]) -> None:
    with start(name="another name") as engine:
        assert await continued(engine) == expected
        assert loaded(engine) == 12


async def test_a_program_that_ends_while_it_loads_leaves_nothing(start: Start, expected: list[int]) -> None:
    with start() as engine:
        loading = asyncio.create_task(continued(engine))
        for _ in range(3):
            await asyncio.sleep(0)
        loading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await loading
        assert await continued(engine) == expected


async def test_pages_reserved_for_a_load_that_is_given_up_are_given_back(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:  # P10, K5
    with start() as engine:
        prompt, other, context = engine.prompt(200, 1), Context(engine.model), Context(engine.model)
        await other.forward().input(prompt).defer_commit().execute()

        async def give_up(services: Services, loading: LiveContext, stored: PagesOnDisk) -> None:
            """The context makes way, and another one commits the same pages."""
            engine.part(Restorer).suspend(loading)
            services.store.working.commit_full(other.id)

        monkeypatch.setattr(pass_pages, "read_pages", give_up)
        await context.append(prompt).flush()
        raw = context.inner()
        assert (raw.committed_page_count(), raw.working_page_count(), raw.working_page_token_count()) == (12, 1, 8)


async def test_prompts_that_are_read_through_the_same_buffers_are_not_mixed_up(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "PART_BYTES", 1)
    with start() as engine:
        expected = [await continued(engine, seed=seed, count=2) for seed in (1, 2, 3)]
        await saved(engine)
    with start() as engine:
        assert await asyncio.gather(*[continued(engine, seed=seed, count=2) for seed in (1, 2, 3)]) == expected
        assert loaded(engine) >= 36


async def test_others_are_computed_while_pages_are_read(
    start: Start, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    may_read, read = threading.Event(), page_files.PageFiles.read_run

    def slow(self: page_files.PageFiles, *arguments: Any) -> int:
        may_read.wait()
        return read(self, *arguments)

    with start(disk_cache=None) as engine:
        alone = await continued(engine, seed=4)
    monkeypatch.setattr(page_files.PageFiles, "read_run", slow)
    with start() as engine:
        reading_prompt = asyncio.create_task(continued(engine))
        assert await continued(engine, seed=4) == alone
        may_read.set()
        assert await reading_prompt == expected
        assert loaded(engine) == 12


async def test_the_first_pages_of_a_prompt_are_in_the_pool_before_the_last_ones_are_read(
    start: Start, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    attached: list[int] = []
    read = page_files.PageFiles.read_run

    def noted(self: page_files.PageFiles, *arguments: Any) -> int:
        attached.append(max(context.committed for context in engine.store.contexts))
        return read(self, *arguments)

    monkeypatch.setattr(reading, "PART_BYTES", 1)
    monkeypatch.setattr(page_files.PageFiles, "read_run", noted)
    with start() as engine:
        assert await continued(engine) == expected
    assert attached[0] == 0
    assert 0 < attached[-1] < 12


async def test_a_hybrid_goes_on_from_a_stored_state(start: Start, tiny_model_directory: Callable[[str], Path]) -> None:
    async def talk(engine: Running) -> list[int]:
        with Context(engine.model) as context:
            context.append([5 + (place * 11 + place * place % 7) % 200 for place in range(200)])
            return await engine.greedy(context, 8)

    model = str(tiny_model_directory("lfm2"))
    with start(model=model) as engine:
        drawn = await talk(engine)
    with start(model=model) as engine:
        assert await talk(engine) == drawn
        assert (attached(engine), loaded(engine)) == (192, 12)
        assert await talk(engine) == drawn


async def test_pages_that_wait_to_be_written_are_found(
    start: Start, root: Path, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(root)
    monkeypatch.setattr(disk_cache, "BATCH_SECONDS", 1e6)
    with start(total_pages=20) as engine:
        assert await continued(engine) == expected
        await continued(engine, seed=2)
        assert await continued(engine) == expected
        assert (loaded(engine) > 0, stored(engine)) == (True, 0)


async def test_an_engine_that_is_idle_writes_what_is_in_memory(
    start: Start, root: Path, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(root)
    written, use = threading.Event(), directory.CacheDirectory.use

    def noted(self: directory.CacheDirectory, path: Path) -> None:
        use(self, path)
        written.set()

    monkeypatch.setattr(directory.CacheDirectory, "use", noted)
    monkeypatch.setattr(idle, "IDLE_SECONDS", 0.01)
    with start() as engine:
        assert await continued(engine) == expected
        await asyncio.to_thread(written.wait)
        assert files(root)


@pytest.fixture
def slow_disk(root: Path, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Writes to an empty store wait until it is set."""
    shutil.rmtree(root)
    may_write, write = threading.Event(), page_files.PageFiles.write

    def slow(self: page_files.PageFiles, *arguments: Any) -> int:
        may_write.wait()
        return write(self, *arguments)

    monkeypatch.setattr(page_files.PageFiles, "write", slow)
    monkeypatch.setattr(batch_writer, "RECORDS", 1)
    return may_write


@pytest.fixture
def small_queue(before: tuple[Path, list[int]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Two pages may wait in memory to be written."""
    size = sum(file.stat().st_size for file in files(before[0]))
    monkeypatch.setattr(disk_cache, "QUEUE_BYTES", 2 * size // PAGES)


@pytest.mark.usefixtures("small_queue")
async def test_pages_wait_in_the_pool_for_a_slow_disk(
    start: Start, expected: list[int], slow_disk: threading.Event
) -> None:
    with start(total_pages=20) as engine:
        assert await continued(engine) == expected
        with Context(engine.model) as other:
            await other.append([5]).flush()
            other.inner().reserve_working_pages(19)
            await other.append([5]).flush()
        assert stored(engine) == 0
        slow_disk.set()
    assert (stored(engine), dropped(engine)) == (PAGES, 0)
    with start() as engine:
        assert await continued(engine) == expected
        assert loaded(engine) == 12


@pytest.mark.usefixtures("small_queue")
async def test_pages_that_are_written_over_before_a_slow_disk_took_them_are_dropped_and_counted(
    start: Start, expected: list[int], slow_disk: threading.Event
) -> None:
    with start(total_pages=20) as engine:
        assert await continued(engine) == expected
        other = await continued(engine, seed=2)
        slow_disk.set()
    assert dropped(engine) > 0
    assert stored(engine) + dropped(engine) == 2 * PAGES
    with start() as engine:
        assert await continued(engine) == expected
        assert await continued(engine, seed=2) == other


async def test_without_shared_memory_pages_are_stored_and_read_through_the_device(
    start: Start, root: Path, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "shares_memory", lambda dtype: False)
    with start() as engine:
        assert await continued(engine) == expected
        assert loaded(engine) == 12
        await continued(engine, seed=2)
    assert stored(engine) == PAGES
    monkeypatch.undo()
    with start() as engine:
        second = await continued(engine, seed=2)
        assert loaded(engine) == 12
    with start(disk_cache=None) as engine:
        assert await continued(engine, seed=2) == second


async def test_nothing_is_found_or_stored_before_all_of_large_weights_is_read(
    start: Start, root: Path, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    may_read, compute = threading.Event(), WeightDigests.compute

    def blocked(self: WeightDigests, *arguments: Any, **options: Any) -> list[str]:
        may_read.wait()
        return compute(self, *arguments, **options)

    monkeypatch.setattr(WeightDigests, "compute", blocked)
    monkeypatch.setattr(opening, "WAITED_BYTES", -1)
    (root / "weights.json").unlink()
    before = files(root)
    with start() as engine:
        assert await continued(engine) == expected
        finished(saved(engine))
        assert (loaded(engine), stored(engine), files(root)) == (0, 0, before)
        may_read.set()
        finished(opened(engine))
        finished(emptied(engine))
        assert await continued(engine) == expected
        assert loaded(engine) == 12


async def test_a_write_that_hangs_holds_up_no_step(start: Start, slow_disk: threading.Event) -> None:
    with start(total_pages=20) as engine:
        for seed in (1, 2, 3):
            drawn = await continued(engine, seed=seed)
        assert (len(drawn), stored(engine)) == (8, 0)
        slow_disk.set()
    assert stored(engine) > 0


async def test_a_directory_that_has_become_read_only_is_still_read(
    start: Start, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError(errno.EROFS, "read-only file system")

    with start() as engine:
        monkeypatch.setattr(directory, "make_private", refuse)
        assert await continued(engine) == expected
        assert loaded(engine) == 12
        await continued(engine, seed=2)
    assert [event.state for event in engine.events if isinstance(event, DiskCacheChanged)] == ["ready", "failed"]
    assert dropped(engine) == PAGES


@pytest.mark.parametrize("least_free", [directory.LEAST_FREE, -100.0])
async def test_a_disk_that_is_full_or_becomes_so_in_a_write_changes_no_token(
    start: Start, small_disk: Path, monkeypatch: pytest.MonkeyPatch, least_free: float
) -> None:
    monkeypatch.setattr(directory, "LEAST_FREE", least_free)
    root = small_disk / "kv"
    with start(model="pie-tiny", disk_cache=None) as engine:
        expected = await continued(engine)
    with start(model="pie-tiny", disk_cache=DiskCacheSettings(str(root))) as engine:
        assert await continued(engine) == expected
        await saved(engine)
        await emptied(engine)
        assert await continued(engine) == expected
        assert (stored(engine), files(root)) == (0, [])
        assert dropped(engine) >= PAGES
    assert [event.state for event in engine.events if isinstance(event, DiskCacheChanged)] == ["ready", "failed"]
