"""Snapshots that outlive their engine with their KV (N7): opened, they go on as if there had been no break."""

import asyncio
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from inferlet import Context
from pie_mlx.engine.settings import DiskCacheSettings
from pie_mlx.events import ContextRestored, PagesStored, PassCompleted, SnapshotStored
from tests.engine.behaviour.test_disk_cache import files, flushed
from tests.engine.running import Running, engine_alone, finished, in_context, running, small_prompt

Start = Callable[..., AbstractContextManager[Running]]
TURN_TOKENS = 100
"""Six pages, and four tokens on a seventh."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "kv"


@pytest.fixture
def start(tmp_path: Path, root: Path) -> Start:
    """Starts an engine with the snapshots and the disk cache of the one before."""
    snapshots, cache = str(tmp_path / "snapshots"), DiskCacheSettings(str(root))
    return partial(running, snapshot_directory=snapshots, disk_cache=cache, total_pages=64)


async def talked(engine: Running, turns: int = 1) -> Context:
    """A context that was saved after each of its turns."""
    context = Context(engine.model)
    for turn in range(turns):
        await context.append(small_prompt(TURN_TOKENS, turn)).flush()
        context.save("talk", persist=True)
    return context


async def go_on(engine: Running, context: Context | None) -> list[int]:
    """What comes after one more token."""
    assert context is not None
    with context:
        return await engine.greedy(context.append([77]), 8)


def open_talk(engine: Running) -> Context | None:
    return Context.open(engine.model, "talk")


def told(engine: Running) -> list[tuple[int, int]]:
    """Of each snapshot that was saved, its pages, and those on disk."""
    return [(event.pages, event.stored_pages) for event in engine.events if isinstance(event, SnapshotStored)]


def restored(engine: Running) -> tuple[int, int]:
    """Pages that were read, and tokens that were computed, to bring a context back."""
    (event,) = [event for event in engine.events if isinstance(event, ContextRestored)]
    return event.read_pages, event.replayed_tokens


def computed(engine: Running) -> int:
    """Tokens that the first pass computed, without those of the steps that followed."""
    first = next(event for event in engine.events if isinstance(event, PassCompleted))
    return first.computed_tokens - first.following


class Saved(NamedTuple):
    """What an engine with a model has left on disk of a talk of three turns, and how it would have gone on."""

    model: str
    place: Path
    drawn: list[int]


@pytest.fixture(scope="module", params=["pie-tiny", "lfm2"])
def saved(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    tiny_model_directory: Callable[[str], Path],
) -> Saved:
    model = request.param if request.param == "pie-tiny" else str(tiny_model_directory(request.param))
    place = tmp_path_factory.mktemp(request.param)
    cache = DiskCacheSettings(str(place / "running"))
    with engine_alone(model=model, snapshot_directory=str(place / "snapshots"), disk_cache=cache) as engine:
        context = finished(in_context(engine, talked(engine, turns=3)))
        shutil.copytree(place / "running", place / "kv")  # as it is before the engine stops
        return Saved(model, place, finished(in_context(engine, go_on(engine, context))))


@pytest.fixture
def reopen(saved: Saved, start: Start, root: Path, tmp_path: Path) -> Start:
    """Starts an engine with a copy of what was left."""
    for part in ("kv", "snapshots"):
        shutil.copytree(saved.place / part, tmp_path / part)
    return partial(start, model=saved.model)


async def test_an_opened_snapshot_computes_nothing(reopen: Start, saved: Saved) -> None:
    with reopen() as engine:
        assert await go_on(engine, open_talk(engine)) == saved.drawn
        assert (restored(engine), computed(engine)) == ((19, 0), 1)


def deleted(file: Path) -> None:
    file.unlink()


def damaged(file: Path) -> None:
    whole = bytearray(file.read_bytes())
    whole[int(len(whole) * 0.6)] ^= 4
    file.write_bytes(whole)


@pytest.mark.parametrize("harm", [deleted, damaged])
async def test_of_a_snapshot_only_what_is_missing_on_disk_is_computed(
    reopen: Start, saved: Saved, root: Path, harm: Callable[[Path], None]
) -> None:
    harm(files(root)[1])
    with reopen() as engine:
        assert await go_on(engine, open_talk(engine)) == saved.drawn
        read, replayed = restored(engine)
        assert read > 0
        assert 0 < replayed < 3 * TURN_TOKENS


async def test_a_snapshot_whose_pages_are_gone_is_computed(reopen: Start, saved: Saved, root: Path) -> None:
    shutil.rmtree(root)
    with reopen() as engine:
        assert await go_on(engine, open_talk(engine)) == saved.drawn
        assert (restored(engine), computed(engine)) == ((0, 3 * TURN_TOKENS), 1)


async def test_a_snapshot_finds_no_pages_of_another_user(start: Start) -> None:
    with start(disk_cache=None) as engine, engine.process("somebody else"):
        expected = await go_on(engine, await talked(engine))
    with start() as engine:
        await talked(engine)
    with start() as engine, engine.process("somebody else"):
        assert await go_on(engine, open_talk(engine)) == expected
        assert restored(engine) == (0, TURN_TOKENS)


async def test_later_saves_write_only_what_is_new(start: Start) -> None:
    with start() as engine:
        await talked(engine, turns=3)
        assert told(engine) == [(7, 7), (13, 13), (19, 19)]
        # Full pages once, and with each save the one that is not full.
        assert sum(event.pages for event in engine.events if isinstance(event, PagesStored)) == 18 + 3


async def test_what_the_day_has_no_room_for_is_told_and_computed(start: Start, root: Path) -> None:
    with start(disk_cache=DiskCacheSettings(str(root), day_bytes=1)) as engine:
        expected = await go_on(engine, await talked(engine))
        assert told(engine) == [(7, 0)]
    with start() as engine:
        assert await go_on(engine, open_talk(engine)) == expected
        assert restored(engine) == (0, TURN_TOKENS)


async def test_a_fork_that_has_not_run_is_kept_with_its_own_tokens(start: Start) -> None:
    with start() as engine:
        context = await talked(engine)
        with context.fork() as fork:
            fork.save("talk", persist=True)
        assert told(engine) == [(7, 7), (7, 7)]
        expected = await go_on(engine, context)
    with start() as engine:
        assert await go_on(engine, open_talk(engine)) == expected


async def test_pages_that_must_not_outlive_the_engine_are_not_kept_with_a_snapshot(start: Start) -> None:
    with start() as engine, Context(engine.model) as context:
        await context.append(small_prompt(32)).flush()
        await context.forward().input(small_prompt(20, 1)).attention_mask([[0, 1, 3, 28]] * 20).execute()
        context.save("masked", persist=True)
        assert told(engine) == [(4, 2)]


async def test_a_suspended_context_finds_its_pages_on_disk(start: Start) -> None:
    with start(total_pages=20) as engine:
        context = Context(engine.model).append(small_prompt(2 * TURN_TOKENS))
        await context.flush()
        context.suspend()
        with Context(engine.model) as other:
            await other.append(small_prompt(3 * TURN_TOKENS, 5)).flush()
        finished(flushed(engine))
        await go_on(engine, context)
        read, replayed = restored(engine)
        reread = [event.reread_tokens for event in engine.events if isinstance(event, PassCompleted)]
        assert context.reuse.from_disk == sum(reread) == read * engine.store.page_size > 0
        assert replayed == 2 * TURN_TOKENS % engine.store.page_size


async def test_a_snapshot_that_is_released_while_it_loads_leaves_nothing(start: Start) -> None:
    with start() as engine:
        expected = await go_on(engine, await talked(engine))
    with start() as engine:
        for _ in range(2):
            loading = asyncio.create_task(go_on(engine, open_talk(engine)))
            for _ in range(3):
                await asyncio.sleep(0)
            loading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await loading
        engine.check_books()
        assert await go_on(engine, open_talk(engine)) == expected
