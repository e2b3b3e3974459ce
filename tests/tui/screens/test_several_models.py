"""The overview of an engine with several models."""

import asyncio
import contextlib

import msgspec
import pytest

from pie_mlx.event_log import EventWriter
from pie_mlx.events import ContextCreated, ModelChanged, PageUsage, ProcessLaunched
from pie_mlx.tui.model import Record
from pie_mlx.tui.model.facts import ModelRow
from pie_mlx.tui.source.base import Link
from pie_mlx.tui.source.demo import demo_facts
from pie_mlx.tui.source.recording import open_recording
from tests.tui.harness import StillDemo, monitor, press, screen_text, settled_text, shown
from tests.tui.model.folding.test_pools import BOTH
from tests.tui.pictures import Goldens

MODELS = (
    ModelRow("pie-tiny", "loaded", 8 << 30, 14, pages=PageUsage(320, 315, 185, 5), price=0.32),
    ModelRow("router", "loading", 512 << 20, 1, progress=0.4),
    ModelRow("embedder", "unloaded", 300 << 20),
)


class SeveralModels(StillDemo):
    """The demo as if it had further models."""

    def __init__(self, models):
        super().__init__()
        self._models = models

    def start(self, feed):
        super().start(feed)
        feed.facts(msgspec.structs.replace(demo_facts(), models=self._models))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=str)
async def test_each_model_has_a_row_with_its_state_its_memory_its_pages_and_their_price(size, tmp_path):
    goldens = Goldens(tmp_path)
    async with monitor(SeveralModels(MODELS), size=size) as (app, pilot):
        goldens.compare_text(f"several-models-{size[0]}x{size[1]}", await settled_text(app, pilot))
    goldens.check()


class Told(StillDemo):
    """An engine whose events tell of its models."""

    def start(self, feed):
        feed.link(Link("live"))
        feed.extend(Record(10.0 + number / 10, event) for number, event in enumerate(BOTH))


@contextlib.asynccontextmanager
async def several(source=None):
    """A monitor that shows several models."""
    async with monitor(source or Told()) as (app, pilot), asyncio.timeout(20):
        while len(app.screen.query_one("#models").rows) < 2:
            await shown(app, pilot)
        yield app, pilot


async def test_a_key_shows_the_pages_the_price_and_the_bids_of_the_next_model_on_every_screen():
    async with several() as (app, pilot):
        assert "of main" in screen_text(app)
        assert "3/64 pages  price 0.25" in screen_text(app)
        await press(app, pilot, "n")
        assert "5/24 pages  price 0.75" in screen_text(app)
        assert app.screen.query_one("#models").selected == "router"
        await press(app, pilot, "4")
        text = screen_text(app)
        assert "Order book of router" in text
        assert "of 24" in text
        await press(app, pilot, "5")
        assert "Pool of router" in screen_text(app)
        await press(app, pilot, "n", "1")
        assert "3/64 pages" in screen_text(app)


async def test_the_model_that_is_selected_in_the_panel_is_shown_and_enter_opens_its_pages():
    async with several() as (app, pilot):
        table = app.screen.query_one("#models")
        while not table.has_focus:
            table.focus()  # once the panel is shown
            await shown(app, pilot)
        await press(app, pilot, "down")
        while app.view.model != "router":
            await shown(app, pilot)
        assert "5/24 pages" in screen_text(app)
        await press(app, pilot, "enter")
        assert app.screen.NAME == "pages"


async def test_a_model_that_is_not_in_memory_says_so_instead_of_figures():
    async with several(SeveralModels(MODELS)) as (app, pilot):
        app.inbox.extend([Record(1e6, ModelChanged("router", "loading"))])
        await press(app, pilot, "n")
        text = screen_text(app)
        assert "router loading" in text
        assert "0/0" not in text
        await press(app, pilot, "5")
        assert "the model is loading: it has no pages" in screen_text(app)


async def test_a_program_of_another_model_is_found_among_the_pages_of_that():
    async with several() as (app, pilot):
        other = ContextCreated("q", 9, account=5, model="router")
        app.inbox.extend([Record(20.0, ProcessLaunched("q", "ada", "chat@1.0.0")), Record(20.0, other)])
        app.refresh_now()
        app.show_program("pages", "q")
        await shown(app, pilot)
        assert "Pool of router" in screen_text(app)
        assert app.screen.selected_process() == "q"


async def test_a_recording_knows_the_models(tmp_path):
    with EventWriter(tmp_path / "run.events", iter(range(100)).__next__) as log:
        for event in BOTH:
            log.write(event)
    source = open_recording(tmp_path / "run.events")
    source.playback.seek_to(1.0)
    source.playback.playing = False
    async with several(source) as (app, pilot):
        rows = app.screen.query_one("#models").rows
        assert [(row.name, row.state, row.draft_model) for row in rows] == [
            ("main", "loaded", "router"),
            ("router", "loaded", ""),
        ]
        await press(app, pilot, "n")
        assert "5/24 pages" in screen_text(app)


async def test_a_single_model_needs_no_row():
    async with monitor(SeveralModels(MODELS[:1])) as (app, _):
        assert not app.screen.query_one("#models").display
        assert app.screen.query_one("#pool").display
