"""All displays of one engine tell the same pages, whenever they connected."""

import asyncio
import contextlib
import urllib.request

import pytest

from pie_mlx.client import connect
from pie_mlx.tui.inbox import Inbox
from pie_mlx.tui.model.pool_books import USED
from pie_mlx.tui.model.views.summary import summary
from pie_mlx.tui.screens.pages import book_shares
from pie_mlx.tui.source.live import LiveSource
from tests.server.running import RunningServer, write_program

HOLDER = """
from inferlet import Context, Model, runtime, session

async def main(input):
    with Context(Model.load(runtime.models()[0])) as context:
        context.append([1000 + token for token in range(16 * 30)])
        await context.flush()
        context.append([2000 + input["number"]] * (16 * 18 + 5))
        await context.flush()
        while True:
            session.send("holds")
            context.append([int(await session.receive())] * 16)
            await context.flush()
"""
COMMON, OWN = 30, 19
"""Pages of each of three holders: 30 that all three hold, and 18 of its own with a working one."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("home")).start()
    program, manifest = write_program(tmp_path_factory.mktemp("holder"), "holder", HOLDER)
    running.server.service.programs.install(program.read_bytes(), manifest.read_text())
    yield running
    running.stop()


def metrics(server):
    with urllib.request.urlopen(f"{server.http.removesuffix('/')}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return int(float(next(line for line in lines if line.startswith('pie_pages{state="used"}')).split()[1]))


async def told(inbox, used):
    """What a monitor shows once it shows so many used pages."""
    async with asyncio.timeout(20):
        while (state := inbox.state()).pages.used != used:  # noqa: ASYNC110 - an inbox has no event
            await asyncio.sleep(0.01)
    return {row.id: (row.own, row.shared) for row in summary(state).programs}


def booked(books, state):
    """The pages of programs, by whether others hold them too, counted page by page."""
    found = {}
    for group in books.groups:
        owners = {state.contexts[number].process for number in group.contexts}
        for name in owners:
            own, shared = found.get(name, (0, 0))
            found[name] = (own + group.count, shared) if len(owners) == 1 else (own, shared + group.count)
    return found


async def test_ps_metrics_and_monitors_that_came_early_and_late_agree(server):
    async def open_client():
        return await connect(server.url, username="ada")

    async with await open_client() as client, contextlib.AsyncExitStack() as following:
        early, late = Inbox(), Inbox()

        async def follow(inbox):
            source = LiveSource(server.url, open_client)
            task = asyncio.create_task(source.run(inbox))
            following.callback(task.cancel)
            return source

        source = await follow(early)
        processes = [await client.launch("holder", {"number": number}) for number in range(3)]
        heard = [process.events() for process in processes]
        for events in heard:
            assert (await anext(events))[0].text == "holds"
        await follow(late)
        for used, own in ((COMMON + 3 * OWN, OWN), (COMMON + 3 * OWN + 1, OWN + 1)):
            expected = {process.id: (own if process is processes[0] else OWN, COMMON) for process in processes}
            assert await told(early, used) == await told(late, used) == expected
            rows = await client.processes()
            assert {row["id"]: (row["own_pages"], row["pages"] - row["own_pages"]) for row in rows} == expected
            assert await asyncio.to_thread(metrics, server) == used
            books = await source.pool()
            assert booked(books, early.state()) == expected
            assert (books.count(*USED), books.shared) == (used, COMMON)
            shares, runs = book_shares(early.state(), books)
            assert sorted(first + place for first, count in runs for place in range(count)) == list(
                range(early.state().pages.total)
            )
            assert sum(share.amount for share in shares if share.name not in ("cached", "free")) == used
            await processes[0].send("7")
            assert (await anext(heard[0]))[0].text == "holds"
