"""The pool page by page is the pool that the counts and the programs know."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inferlet import Context
from pie_mlx.engine import page_books
from pie_mlx.engine.page_books import PageDetail, PageGroup
from pie_mlx.engine.settings import DiskCacheSettings
from tests.engine.behaviour.test_disk_cache import flushed, saved
from tests.engine.running import Running, finished, running, small_prompt

PROMPT = 3 * 16


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(total_pages=64, disk_cache=DiskCacheSettings(str(tmp_path_factory.mktemp("kv")))) as started:
        yield started


def groups(engine: Running) -> list[PageGroup]:
    return finished(engine.core.consult(page_books.page_groups))


def detail(engine: Running, page: int) -> PageDetail:
    return finished(engine.core.consult(lambda services: page_books.page_detail(services, page)))


async def holder(engine: Running, *more: int) -> Context:
    context = Context(engine.model)
    context.append([*engine.prompt(PROMPT), *more])
    await context.flush()
    return context


async def test_every_page_is_in_one_group_and_its_holders_are_those_that_are_counted(engine: Running) -> None:
    first, second = await holder(engine, 7, 8), await holder(engine, 9)
    fork = first.fork()
    gone = await holder(engine, *engine.prompt(PROMPT, 5))
    gone.release()
    second.suspend()
    found = groups(engine)
    assert sorted(page for group in found for page in group.pages) == list(range(64))
    counted = finished(engine.core.consult(lambda services: services.page_report.count()))
    sizes = Counter[str]()
    for group in found:
        sizes[group.kind] += len(group.pages)
    assert sizes["held"] + sizes["working"] == counted.pages.used
    assert (sizes["cached"], sizes["free"]) == (counted.pages.cached, counted.pages.free)
    for number, pages in counted.contexts.items():
        mine = [group for group in found if number in group.contexts]
        assert sum(len(group.pages) for group in mine if len(group.contexts) == 1) == pages.own
        assert sum(len(group.pages) for group in mine if len(group.contexts) > 1) == pages.shared
    for context in (first, second, fork):
        context.release()


async def test_a_page_tells_its_text_its_chain_its_holders_and_its_times(engine: Running) -> None:
    first = await holder(engine, 7, 8)
    fork = first.fork()
    (held,) = [group for group in groups(engine) if group.kind == "held"]
    pages = [detail(engine, page) for page in held.pages]
    assert [list(page.tokens) for page in pages] == [engine.prompt(PROMPT)[at : at + 16] for at in (0, 16, 32)]
    assert [page.first for page in pages] == [0, 16, 32]
    assert [page.after for page in pages[1:]] == [page.key for page in pages[:-1]]
    assert {page.contexts for page in pages} == {held.contexts}
    assert len(held.contexts) == 2
    assert {page.user for page in pages} == {"tester"}
    assert all(page.made_seconds is not None and page.used_seconds is not None for page in pages)
    (working,) = [group for group in groups(engine) if group.kind == "working" and group.contexts == held.contexts[:1]]
    last = detail(engine, working.pages[0])
    assert (last.kind, list(last.tokens), last.first, last.key) == ("working", [7, 8], PROMPT, "")
    (free,) = [group for group in groups(engine) if group.kind == "free"]
    assert detail(engine, free.pages[0]) == PageDetail(free.pages[0], "free")
    for context in (first, fork):
        context.release()


async def test_what_recurrent_layers_remember_of_a_context_is_named_with_its_pages_and_its_places(
    tiny_model_directory: Callable[[str], Path],
) -> None:
    with running(model=str(tiny_model_directory("qwen3_next")), total_pages=32) as engine:
        context = Context(engine.model)
        await context.append(small_prompt(40)).flush()
        (slot,) = finished(engine.core.consult(page_books.state_slots))
        state = engine.core.services.runner.model.network.state(slot.context)
        assert state is not None
        assert (slot.tokens, len(slot.pages)) == (state.tokens, engine.store.states.pages_each)
        found = [detail(engine, page) for page in slot.pages]
        assert {(page.kind, page.contexts, page.state_tokens) for page in found} == {
            ("state", (slot.context,), slot.tokens)
        }
        context.release()


async def test_pages_that_also_lie_on_disk_are_marked(engine: Running) -> None:
    context = await holder(engine, 7)
    disk = engine.core.services.disk
    assert disk is not None
    assert not any(group.stored for group in groups(engine) if group.contexts)
    await saved(engine)
    await flushed(engine)
    (held,) = [group for group in groups(engine) if group.kind == "held"]
    assert held.stored
    assert all(detail(engine, page).stored for page in held.pages)
    context.release()
