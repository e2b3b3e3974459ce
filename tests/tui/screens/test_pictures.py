"""Every screen at three sizes, of an engine that is empty, busy, crowded, gone, or recorded, looks as it did.

`PIE_UPDATE_SCREENS=1 pytest tests/tui/screens` makes what is now the golden: look at the pictures before committing.
"""

import asyncio
from itertools import product

import pytest

from pie_mlx.events import EngineStarted
from pie_mlx.tui.actions import TABS
from pie_mlx.tui.model import Record
from pie_mlx.tui.model.facts import Facts
from pie_mlx.tui.source.base import Link
from pie_mlx.tui.source.scripted_engine import ScriptedEngine
from tests.tui.harness import StillDemo, monitor, press, settled_text, still_recording
from tests.tui.pictures import Goldens

SIZES = ((80, 24), (120, 40), (200, 60))
READ_SIZE = (120, 40)
"""The size of which the text is kept too."""
PLACES = {tab: (str(number % 10),) for number, tab in enumerate(TABS, 1)}
PLACES |= {"process": ("2", "enter"), "tokens": ("T",)}
"""The keys that lead to each screen from the one before."""


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


STATES = {"empty": EmptyDemo, "normal": StillDemo, "crowded": crowded, "dead": DeadDemo}
SOURCES = {**STATES, "recording": still_recording}


@pytest.mark.parametrize(("state", "size"), [*product(STATES, SIZES), ("recording", READ_SIZE)], ids=str)
async def test_every_screen_looks_as_it_did(state, size, tmp_path):
    goldens = Goldens(tmp_path)
    async with monitor(SOURCES[state](), size=size) as (app, pilot):
        for place, keys in PLACES.items():
            if place not in TABS and state == "empty":
                continue  # there is no program to open
            await press(app, pilot, *keys)
            text = await settled_text(app, pilot)
            assert place == app.screen.NAME
            assert app.screen.has_class("-stale") == (state == "dead")
            goldens.compare_picture(f"{state}-{place}-{size[0]}x{size[1]}", app)
            if size == READ_SIZE:
                goldens.compare_text(f"{state}-{place}", text)
    goldens.check()
