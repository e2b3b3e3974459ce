"""All displays of an engine with several models tell the same of each, whenever they connected."""

import asyncio
import urllib.request
from functools import partial

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pie_mlx import Engine, EngineSettings
from pie_mlx.client import connect
from pie_mlx.events import WaitChanged
from pie_mlx.server.watching.feed import KEPT
from pie_mlx.tui.inbox import Inbox
from pie_mlx.tui.model.pool_books import USED
from pie_mlx.tui.model.views.model_rows import model_rows
from pie_mlx.tui.model.views.program_row import program_rows
from pie_mlx.tui.source.live import LiveSource
from tests.server.running import RunningServer, write_program

HOLDER = """
from inferlet import Context, Model, session

async def main(input):
    with Context(Model.load("main")) as large, Context(Model.load("router")) as small:
        for context, pages in ((large, input["large"]), (small, input["small"])):
            context.append([2000 + input["large"]] * (16 * pages))
            await context.flush()
        session.send("holds")
        await session.receive()
"""
PROGRAMS = ((5, 2), (7, 3))
"""Pages of each at the first model, and at the second."""


def two_models(on_event, resolve):
    lazy = {"load": "lazy", "keep_alive_seconds": 600.0}
    models = [
        EngineSettings(dummy=True, name="main", total_pages=64, draft_model=None),
        EngineSettings(dummy=True, name="router", total_pages=32, **lazy),
        EngineSettings(dummy=True, name="never", total_pages=16, **lazy),
    ]
    return Engine(models, on_event=on_event, resolve=resolve)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("home"), engine=two_models, model="main").start()
    program, manifest = write_program(tmp_path_factory.mktemp("holder"), "holder", HOLDER)
    running.server.service.programs.install(program.read_bytes(), manifest.read_text())
    yield running
    running.stop()


def metrics(server):
    with urllib.request.urlopen(f"{server.http.removesuffix('/')}/metrics") as answer:
        families = text_string_to_metric_families(answer.read().decode())
        return {(one.name, *one.labels.values()): one.value for family in families for one in family.samples}


async def overflow(feed):
    """So many events that all earlier ones are gone."""
    for _ in range(KEPT):
        feed.publish(WaitChanged(0))


async def until(holds):
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110 - an inbox has no event
            await asyncio.sleep(0.01)


def told(inbox):
    """What a monitor shows of each model and program."""
    state = inbox.state()
    pools = {
        name: (pool.state, pool.pages, pool.price, pool.treasury, pool.page_size, pool.ticks, pool.size_bytes)
        for name, pool in state.pools.items()
    }
    wallets = {(name, one.id): one.balance for name, pool in state.pools.items() for one in pool.accounts.values()}
    contexts = {number: (context.model, context.own_pages) for number, context in state.contexts.items()}
    living = [row for row in program_rows(state) if row.status not in ("returned", "failed", "killed")]
    return pools, wallets, contexts, {row.id: (row.own, row.shared, row.balance, row.spent) for row in living}


async def late_inbox(server, open_client):
    await asyncio.to_thread(server.call, overflow(server.server.service.feed))
    late = Inbox()
    await LiveSource("here", open_client).feed_for(late, 0.0)
    return late


async def test_models_lists_metrics_and_monitors_that_came_early_and_late_agree(server):
    open_client = partial(connect, server.url, username="local", token=server.server.service.authenticator.token)
    early = Inbox()
    source = LiveSource("here", open_client)
    following = asyncio.create_task(source.run(early))
    async with await open_client() as client:
        processes = [await client.launch("holder", {"large": large, "small": small}) for large, small in PROGRAMS]
        for process in processes:
            assert (await anext(process.events()))[0].text == "holds"
        await until(lambda: {name: pool.pages.used for name, pool in early.state().pools.items()} == used(12, 5))
        late = await late_inbox(server, open_client)
        assert told(early) == told(late)
        counted = await asyncio.to_thread(metrics, server)
        assert [counted["pie_model_pages", name, "used"] for name in ("main", "router")] == [12, 5]
        assert counted["pie_pages", "used"] == 17
        listed = await client.models.list()
        shown = model_rows(early.state(), late.known)
        assert [(row["name"], row["state"], row["size_bytes"], row["price"]) for row in listed] == [
            (row.name, row.state, row.size_bytes, row.price) for row in shown
        ]
        assert [row["pages"] and row["pages"]["used"] for row in listed] == [12, 5, None]
        rows = {row["id"]: (row["own_pages"], row["pages"] - row["own_pages"]) for row in await client.processes()}
        assert rows == {row.id: (row.own, row.shared) for row in program_rows(early.state())}
        books = [await source.pool(name) for name in ("main", "router")]
        assert [book.count(*USED) for book in books] == [12, 5]
        assert (await source.page(0, "router")).kind == "held"

        for process in processes:
            await process.send("go on")
            await process.result()
        await client.models.unload("router")
        await until(lambda: early.state().pools["router"].state == "unloaded")
        late = await late_inbox(server, open_client)
        assert told(early) == told(late)
        assert [(row.state, row.pages is None) for row in model_rows(early.state(), late.known)] == [
            ("loaded", False),
            ("unloaded", True),
            ("unloaded", True),
        ]
        assert ("pie_model_pages", "router", "used") not in await asyncio.to_thread(metrics, server)
    following.cancel()


def used(main, router):
    return {"main": main, "router": router, "never": 0}
