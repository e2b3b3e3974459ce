"""Every screen at three sizes, over the committed recording and the demo, compared with tests/tui/snapshots.

`PIE_UPDATE_SCREENS=1 pytest tests/tui/screens/test_screens.py` writes them anew: look at them before committing.
"""

import asyncio
import os
from pathlib import Path

import pytest

from pie_mlx.events import EngineStarted, ProcessLaunched, ProcessMessage
from pie_mlx.tui.actions import TABS
from pie_mlx.tui.engine_tab import SILENT_SECONDS
from pie_mlx.tui.model import Record
from pie_mlx.tui.model.facts import NO_FACTS, Facts
from pie_mlx.tui.model.text import moment
from pie_mlx.tui.source.base import Link
from pie_mlx.tui.source.scripted_engine import ScriptedEngine
from tests.tui.harness import StillDemo, monitor, press, screen_text, settled_text, shown, still_recording

SCREENS = Path(__file__).parents[1] / "snapshots"
SIZES = ((80, 24), (120, 40), (200, 60))
RESIZES = ((82, 24), (60, 15), (120, 40), (5, 3), (1, 1), (0, 0), (80, 24), (200, 60))
"""From wide to narrow at once, below what is needed, and back."""
UNUSUAL = ((240, 70), (90, 60))
HOSTILE = "\u202ex[bold]\n\ta \x1b[31mb@1.0.0"
UPDATE = bool(os.environ.get("PIE_UPDATE_SCREENS"))


def compare(name: str, text: str) -> list[str]:
    """The name of a screen that is not as it was."""
    file = SCREENS / f"{name}.txt"
    if UPDATE:
        file.write_text(text, encoding="utf-8")
    return [] if file.exists() and file.read_text(encoding="utf-8") == text else [f"{name}:\n{text}"]


async def resize(app, pilot, size):
    await pilot.resize_terminal(*size)
    await shown(app, pilot)


async def test_the_screens_of_the_recording_look_as_they_did():
    changed = []
    async with monitor(still_recording(), size=SIZES[0]) as (app, pilot):
        for size in SIZES:
            await resize(app, pilot, size)
            for number, tab in enumerate(TABS, 1):
                await press(app, pilot, str(number % 10))
                changed += compare(f"recording-{tab}-{size[0]}x{size[1]}", await settled_text(app, pilot))
            await press(app, pilot, "2", "enter")
            changed += compare(f"recording-process-{size[0]}x{size[1]}", await settled_text(app, pilot))
            await press(app, pilot, "escape")
    assert not changed, "\n".join(changed)


async def test_the_screens_that_need_an_engine_look_as_they_did():
    changed = []
    async with monitor(StillDemo(), size=(120, 40)) as (app, pilot):
        for key, name in (
            ("3", "sessions"),
            ("6", "mcp"),
            ("8", "launch"),
            ("9", "latency"),
            ("0", "engine"),
            ("question_mark", "help"),
        ):
            await press(app, pilot, key)
            changed += compare(f"demo-{name}", await settled_text(app, pilot))
    assert not changed, "\n".join(changed)


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


class SilentDemo(StillDemo):
    """The demo as a live engine that stops answering."""

    async def run(self, feed):
        self.start(feed)
        feed.link(Link("live"))
        feed.facts(NO_FACTS)
        self.feed = feed
        await asyncio.Event().wait()


class EmptyDemo(StillDemo):
    """An engine that has started, and that nobody uses."""

    async def run(self, feed):
        feed.link(Link("live"))
        feed.facts(Facts((), ()))
        feed.extend([Record(0.0, EngineStarted("pie-tiny", "market", 64, 16))])
        await asyncio.Event().wait()


class DeadDemo(StillDemo):
    """The demo as an engine that has gone."""

    async def run(self, feed):
        self.start(feed)
        feed.link(Link("reconnecting", "the connection ended; trying again"))
        await asyncio.Event().wait()


def crowded():
    return StillDemo(150, engine=ScriptedEngine(60, 900))


@pytest.mark.parametrize(
    ("name", "source", "is_stale"), [("empty", EmptyDemo, False), ("crowded", crowded, False), ("dead", DeadDemo, True)]
)
async def test_every_screen_looks_as_it_did_when_it_is(name, source, is_stale):
    changed = []
    async with monitor(source(), size=(120, 40)) as (app, pilot):
        for number, tab in enumerate(TABS, 1):
            await press(app, pilot, str(number % 10))
            changed += compare(f"{name}-{tab}", await settled_text(app, pilot))
            assert app.screen.has_class("-stale") == is_stale
    assert not changed, "\n".join(changed)


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
