"""Every screen in sizes, themes and situations that nobody planned for."""

import asyncio

import pytest

from pie_mlx.events import ContextCreated, ContextRestoring, ProcessLaunched, ProcessMessage
from pie_mlx.tui.actions import TABS
from pie_mlx.tui.engine_tab import SILENT_SECONDS
from pie_mlx.tui.model import Record, advance, fold
from pie_mlx.tui.model.facts import NO_FACTS
from pie_mlx.tui.model.text import moment
from pie_mlx.tui.source.base import Link
from tests.tui.harness import StillDemo, monitor, press, screen_text, settled_text, shown
from tests.tui.pictures import Goldens
from tests.tui.stream import RUNNING, after

SIZES = ((80, 24), (120, 40), (200, 60))
RESIZES = ((82, 24), (60, 15), (120, 40), (5, 3), (1, 1), (0, 0), (80, 24), (200, 60))
"""From wide to narrow at once, below what is needed, and back."""
UNUSUAL = ((240, 70), (90, 60))
HOSTILE = "\u202ex[bold]\n\ta \x1b[31mb@1.0.0"


async def resize(app, pilot, size):
    await pilot.resize_terminal(*size)
    await shown(app, pilot)


async def test_a_terminal_too_small_says_so_and_comes_back():
    async with monitor() as (app, pilot):
        for size in ((79, 24), (80, 23), (40, 12), (20, 3), (1, 1)):
            await resize(app, pilot, size)
            if size[0] > 20:
                assert f"{size[0]}x{size[1]} is too small:\n the monitor needs 80x24" in screen_text(app)
            await resize(app, pilot, (80, 24))
            assert "too small" not in screen_text(app)
            assert "Programs" in screen_text(app)


@pytest.mark.parametrize("number", range(1, 12))
async def test_a_screen_outlives_every_resize(number):
    async with monitor(size=SIZES[-1]) as (app, pilot):
        await press(app, pilot, *(("2", "enter") if number == 11 else str(number % 10)))
        for size in RESIZES:
            await resize(app, pilot, size)
            assert ("too small" in screen_text(app)) == (size[0] == 60)


async def test_every_screen_stands_at_unusual_sizes_and_in_every_kind_of_theme():
    async with monitor() as (app, pilot):
        for theme, size in zip(("pie-light", "ansi-dark"), UNUSUAL, strict=True):
            app.theme = theme
            await resize(app, pilot, size)
            for number, tab in enumerate(TABS, 1):
                await press(app, pilot, str(number % 10))
                assert app.current_mode == tab
                assert all(len(line) <= size[0] for line in screen_text(app).splitlines())


async def test_text_of_programs_is_shown_as_it_is_and_steers_nothing():
    class Hostile(StillDemo):
        def start(self, feed):
            super().start(feed)
            events = ProcessLaunched("p" * 36, "[/]", HOSTILE), ProcessMessage("p" * 36, "[/red]\x1b[2Jend")
            feed.extend(Record(1000.0, event) for event in events)

    async with monitor(Hostile(0)) as (app, pilot):
        for number in (*range(10), 2):
            await press(app, pilot, str(number % 10))
            assert not set(screen_text(app)) & set("\x1b\t\u202e")
        assert "x[bold] a [31mb" in screen_text(app)
        await press(app, pilot, "end", "k", "n", "enter")
        assert "[/red][2Jend" in screen_text(app)


async def test_a_context_of_a_program_with_a_long_name_is_known_by_its_number():
    class LongNames(StillDemo):
        def start(self, feed):
            super().start(feed)
            events = ProcessLaunched("p", "ada", "a-program-" * 20), ContextCreated("p", 4711, account=9)
            feed.extend(Record(1000.0, event) for event in events)

    async with monitor(LongNames(0), size=(80, 24)) as (app, pilot):
        await press(app, pilot, "4")
        assert "#4711 a-program-" in screen_text(app)


@pytest.mark.parametrize("number", [1, 2])
async def test_where_no_engine_runs_the_list_of_programs_says_so_and_what_to_do(number):
    class Absent(StillDemo):
        async def run(self, feed):
            feed.link(Link("reconnecting", "no engine is running; trying again", "start one with 'pie serve'"))

    async with monitor(Absent(), size=(80, 24)) as (app, pilot):
        await press(app, pilot, str(number % 10))
        shown = await settled_text(app, pilot)
        assert "no engine is running; trying again; start one with 'pie serve'" in shown


async def test_before_anything_is_known_every_screen_says_that_there_is_nothing():
    class Silent(StillDemo):
        async def run(self, feed):
            del feed

    async with monitor(Silent()) as (app, pilot):
        for number in range(10):
            await press(app, pilot, str(number % 10))
        assert "CONNECTING" in screen_text(app)


async def test_help_looks_as_it_did(tmp_path):
    goldens = Goldens(tmp_path)
    async with monitor(StillDemo()) as (app, pilot):
        await press(app, pilot, "0", "question_mark")
        goldens.compare_text("demo-help", await settled_text(app, pilot))
    goldens.check()


async def test_an_engine_that_only_restores_is_not_idle():
    running = after(*RUNNING)
    restoring = advance(fold(running, [Record(running.seconds, ContextRestoring(1, 0, 500))]), running.seconds + 60.0)
    async with monitor() as (app, pilot):
        for state, word in ((advance(running, running.seconds + 60.0), "idle"), (restoring, "restoring")):
            app.inbox.reset(state)
            await shown(app, pilot)
            assert word in screen_text(app).splitlines()[5]


class SilentDemo(StillDemo):
    """The demo as a live engine that stops answering."""

    async def run(self, feed):
        self.start(feed)
        feed.link(Link("live"))
        feed.facts(NO_FACTS)
        self.feed = feed
        await asyncio.Event().wait()


async def test_an_engine_that_is_silent_or_gone_is_dimmed_and_told_as_of_when():
    source = SilentDemo()
    async with monitor(source) as (app, pilot):
        answered = app.view.state.seconds
        assert not app.screen.has_class("-stale")
        source.feed.advance(answered + SILENT_SECONDS + 1)
        await shown(app, pilot)
        assert app.screen.has_class("-stale")
        assert "SILENT" in screen_text(app)
        assert f"as of {moment(answered, app.view.state.started_seconds)}" in screen_text(app)
        source.feed.facts(NO_FACTS)
        await shown(app, pilot)
        assert not app.screen.has_class("-stale")
        source.feed.link(Link("reconnecting", "the connection ended"))
        await shown(app, pilot)
        assert app.screen.has_class("-stale")
