"""Every figure of every screen is that of the engine's own books, also when programs contend for its pages.

A monitor that was there from the start adds events up; one that comes after the events are gone gets what the engine's
books say. Both show the same, figure by figure. Whatever widget a screen has is compared, so that a new one is too.
"""

import asyncio
import json
import re
import time
import urllib.request
from functools import partial

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families
from textual.widgets import Button, Input, Label, Static

from pie_mlx.client import connect
from pie_mlx.events import WaitChanged
from pie_mlx.server.watching.feed import KEPT
from pie_mlx.tui.controller import ReadOnlyController
from pie_mlx.tui.inbox import Inbox
from pie_mlx.tui.model import advance
from pie_mlx.tui.model.text import credits
from pie_mlx.tui.model.views.summary import summary
from pie_mlx.tui.screens.base import MonitorScreen
from pie_mlx.tui.screens.pages import PageBox
from pie_mlx.tui.screens.tokens import TokenDetail
from pie_mlx.tui.source.base import Link
from pie_mlx.tui.source.live import LiveSource
from pie_mlx.tui.widgets.chart import Chart
from pie_mlx.tui.widgets.grid import Grid
from pie_mlx.tui.widgets.heat_map import HeatMap
from pie_mlx.tui.widgets.page_map import PageMap
from pie_mlx.tui.widgets.share_bar import ShareBar
from pie_mlx.tui.widgets.stats import StatRow
from pie_mlx.tui.widgets.table import Table
from pie_mlx.tui.widgets.timeline import Timeline
from pie_mlx.tui.widgets.token_text import TokenText
from pie_mlx.tui.widgets.transcript import Transcript
from tests.server.running import RunningServer, write_program
from tests.tui.harness import monitor, press, shown
from tests.tui.screens.test_pictures import PLACES

PROGRAM = """
from inferlet import Context, Model, Sampler, runtime, session

async def main(input):
    with Context(Model.load(runtime.models()[0])) as context:
        context.append([1000 + token for token in range(16 * 8)])
        await context.flush()
        context.append([2000 + input["number"]] * (16 * input["pages"]))
        context.set_bid(input["bid"])
        await context.flush()
        while True:
            session.send("holds")
            await session.receive()
            context.set_bid(input["bid"])
            await context.generate(Sampler.argmax(), max_tokens=20, stop=[]).collect_tokens()
"""
PAGES = 40
PROGRAMS = ((10, 0.5), (12, 0.01), (14, 0.9))
"""Pages of each program beside the common ones, and its bid: the second one has to make way."""

PAST = "what was before is in no book"
NOT_IN_THE_BOOKS = {
    ("market", "evictions"): PAST,
    ("logs", "lines"): PAST,
    ("process", "timeline"): PAST,
    ("latency", "requests"): PAST,
    ("sessions", "conversation"): "what programs write is kept by their sessions",
    ("process", "output"): "what programs write is kept by their sessions",
    ("process", "errors"): "what programs write is kept by their sessions",
    ("pages", "page"): "asked for when pointed at",
    ("tokens", "text"): "sent while it is watched",
    ("tokens", "token"): "sent while it is watched",
    ("launch", "form"): "what the user writes",
}
COLUMNS_NOT_IN_THE_BOOKS = {
    "passes": "of contexts no book counts them: a dot",
    "rent": "of the latest tick",
    "balance over time": PAST,
    "age": "the books tell it in whole seconds",
}


def rows_of(table):
    columns = [each for each in table.columns if each.title not in COLUMNS_NOT_IN_THE_BOOKS]
    return [{column.title: column.text(row) for column in columns} for row in table.rows]


NOT_TOLD_BELOW = re.compile(r"^\d+s$")


def told_below(stat):
    """The line below a figure, without what is not in the books."""
    return [part for piece in stat.below for part in piece.text.split(", ") if not NOT_TOLD_BELOW.search(part)]


FIGURES = {
    Table: rows_of,
    Grid: lambda grid: [[piece.text for piece in row] for row in grid.rows],
    StatRow: lambda row: [(each.name, each.value, each.unit, *told_below(each)) for each in row.stats],
    Chart: lambda chart: str(chart.border_subtitle),
    ShareBar: lambda bar: [(share.name, share.amount) for share in bar.shares],
    PageMap: lambda map: ([(share.name, share.amount) for share in map.legend], str(map.border_title)),
    HeatMap: lambda heat: heat.heat(20, 8),
}
WITHOUT_FIGURES = (Button, Input, Label, Static, Timeline, Transcript, PageBox, TokenText, TokenDetail)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("home"), total_pages=PAGES).start()
    program, manifest = write_program(tmp_path_factory.mktemp("contender"), "contender", PROGRAM)
    running.server.service.programs.install(program.read_bytes(), manifest.read_text())
    yield running
    running.stop()


class Known:
    """A source of a state that stands still."""

    label, playback, records = "here", None, ()

    def __init__(self, inbox, books, seconds):
        self._facts, self._books = inbox.known, books
        self.state = advance(inbox.state(), seconds)

    async def run(self, feed):
        feed.link(Link("live"))
        feed.reset(self.state)
        feed.facts(self._facts)
        await asyncio.Event().wait()

    async def pool(self, model=""):
        return self._books

    async def page(self, number, model=""):
        return None

    async def watch_tokens(self, process):
        del process


async def figures(source):
    """All figures of all screens, by screen and widget."""
    found = {}
    async with monitor(source, ReadOnlyController("a test"), size=(200, 60)) as (app, pilot):
        for place, keys in PLACES.items():
            await press(app, pilot, *keys)
            for worker in [one for one in app.workers if one.name != "source"]:
                await worker.wait()
            await shown(app, pilot)
            assert isinstance(app.screen, MonitorScreen)
            for widget in app.screen.query("#body *"):
                key = place, widget.id
                if widget.children or key in NOT_IN_THE_BOOKS or isinstance(widget, WITHOUT_FIGURES):
                    continue
                found[key] = FIGURES[type(widget)](widget)
            found[place, "heading"] = [
                piece.text for figure in app.screen.status_bar.heading.figures for piece in figure
            ]
    return found


def metrics(server):
    with urllib.request.urlopen(f"{server.http.removesuffix('/')}/metrics") as answer:
        families = text_string_to_metric_families(answer.read().decode())
        return {(one.name, *one.labels.values()): one.value for family in families for one in family.samples}


async def overflow(feed):
    """So many events that all earlier ones are gone."""
    for _ in range(KEPT):
        feed.publish(WaitChanged(0))


async def test_every_figure_of_every_screen_is_that_of_the_engine_s_books(server):
    open_client = partial(connect, server.url, username="local", token=server.server.service.authenticator.token)
    async with await open_client() as client:
        early = Inbox()
        source = LiveSource("here", open_client)
        following = asyncio.create_task(source.run(early))
        processes, heard = [], []
        for number, (pages, bid) in enumerate(PROGRAMS):
            processes.append(await client.launch("contender", {"number": number, "pages": pages, "bid": bid}))
            heard.append(processes[-1].events())
            assert (await anext(heard[-1]))[0].text == "holds"
        for _ in range(2):
            rows, counted = await client.processes(), await asyncio.to_thread(metrics, server)
            await asyncio.to_thread(server.call, overflow(server.server.service.feed))
            await until_told(early, rows, counted)
            late = Inbox()
            await LiveSource("here", open_client).feed_for(late, 0.3)
            early.facts(late.known)
            books, seconds = await source.pool(), time.time() + 10.0
            known = [Known(inbox, books, seconds) for inbox in (early, late)]
            told = [await figures(one) for one in known]
            assert not (found := differences(*told)), found
            assert {place for place, _ in told[0]} == set(PLACES)
            agrees(rows, counted, told[0], json.loads(msgspec.json.encode(summary(known[1].state, late.known))))
            await processes[0].send("go on")
            assert (await anext(heard[0]))[0].text == "holds"
        following.cancel()


def differences(one, other):
    """The figures that are not the same, by screen and widget."""
    return {key: (one.get(key), other.get(key)) for key in one.keys() | other if one.get(key) != other.get(key)}


async def until_told(inbox, rows, counted):
    """Until all events have come, also those that wait for a count of pages."""
    async with asyncio.timeout(20):
        while not is_told(inbox.state(), rows, counted):  # noqa: ASYNC110 - an inbox has no event
            await asyncio.sleep(0.01)


def is_told(state, rows, counted):
    suspended = sum(context.activity == "suspended" for context in state.contexts.values())
    return (state.tokens, state.pages.used, suspended) == (
        counted[("pie_tokens_total",)],
        counted["pie_pages", "used"],
        sum(row["state"] == "suspended" for row in rows),
    ) and state.events >= KEPT


def agrees(rows, counted, told, top):
    """`pie ps --json`, `/metrics` and `pie top --json` tell what the screens do."""
    assert {row["state"] for row in rows} == {"running", "suspended"}
    shown = told["overview", "top"]
    assert sorted((row["own_pages"], row["pages"] - row["own_pages"]) for row in rows) == sorted(
        (number(row["own"]), number(row["shared"])) for row in shown
    )
    assert [row["program"] for row in shown] == [row["program"] for row in rows]
    used, price = int(counted["pie_pages", "used"]), counted[("pie_clearing_price",)]
    assert dict(told["overview", "pool"])["cached"] == counted["pie_pages", "cached"]
    assert sum(amount for name, amount in told["overview", "pool"] if name in ("own", "shared")) == used
    assert told["overview", "pages-chart"] == f"{used}"
    assert told["overview", "price-chart"] == told["market", "price-history"].removesuffix(" per page and tick")
    assert told["overview", "price-chart"] == f"{credits(price)} cr"
    assert top["pages"]["used"] == used
    assert top["price"] == pytest.approx(price)
    assert top["tokens"] == counted[("pie_tokens_total",)]
    assert {(row["id"], row["own"], row["shared"], row["spent"]) for row in top["programs"]} == {
        (row["id"], row["own_pages"], row["pages"] - row["own_pages"], row["spent"]) for row in rows
    }
    assert max(row["spent"] for row in rows) > 0


def number(text):
    return 0 if text == "·" else int(text)
