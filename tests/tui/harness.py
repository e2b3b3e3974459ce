"""The application under test: a source that stands still, and a close eye on errors."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from unittest import mock

from textual._context import visible_screen_stack
from textual.notifications import Notification
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip

from pie_mlx.tui.app import MonitorApp
from pie_mlx.tui.controller import Controller, ReadOnlyController
from pie_mlx.tui.source.base import Feed
from pie_mlx.tui.source.demo import DemoSource
from pie_mlx.tui.source.recording import RecordingSource, open_recording
from pie_mlx.tui.source.scripted_engine import ScriptedEngine

RECORDING = Path(__file__).parent / "recordings" / "contention.events"
ROUNDS = 3
"""A message may bring another, and that a third."""

PAINTING = "_compositor_refresh"
"""The method by which a screen paints."""
PAINT = getattr(Screen, PAINTING)
MOST_LOOKS, SAME_LOOKS, LOOK_SECONDS = 100, 3, 0.02

PLACE = 0.9
"""Of the recording: the pool is full, the price is above 0, and a program has ended."""


class StillDemo(DemoSource):
    """The demo, up to a moment."""

    def __init__(self, ticks: int = 120, engine: ScriptedEngine | None = None) -> None:
        super().__init__(engine, warm_ticks=ticks)

    async def run(self, feed: Feed) -> None:
        self.start(feed)
        await asyncio.Event().wait()


def still_recording(place: float = PLACE) -> RecordingSource:
    source = open_recording(RECORDING)
    source.playback.seek_to(place)
    source.playback.playing = False
    return source


@contextlib.asynccontextmanager
async def monitor(
    source: Any = None, controller: Controller | None = None, *, size: tuple[int, int] = (120, 40), **options: Any
) -> AsyncIterator[tuple[MonitorApp, Pilot[None]]]:
    """A running application that has shown its first view. An error toast fails the test."""
    source = source or StillDemo(40)
    default = source if isinstance(source, DemoSource) else ReadOnlyController("a recording cannot be steered")
    app = MonitorApp(source, controller or default, **options)
    with mock.patch.object(Screen, PAINTING, laid_out):
        async with app.run_test(size=size) as pilot:
            await shown(app, pilot)
            yield app, pilot
            assert [toast.message for toast in shown_toasts(app) if toast.severity == "error"] == []


def laid_out(screen: Screen[Any]) -> None:
    """What follows a layout, without the escape codes for a terminal: half of the time, and `screen_text` paints."""
    if screen is not screen.app.screen:
        PAINT(screen)
        return
    screen._dirty_widgets.clear()
    screen.app._update_mouse_over(screen)


async def handled(pilot: Pilot[None]) -> None:
    """All messages so far; `pilot.pause` waits for an idle processor as well."""
    await pilot._wait_for_screen()


async def shown(app: MonitorApp, pilot: Pilot[None]) -> None:
    """Everything that was asked for is done and drawn."""
    for _ in range(ROUNDS):
        await handled(pilot)
    app.refresh_now()
    await handled(pilot)
    app.screen._on_timer_update()


async def press(app: MonitorApp, pilot: Pilot[None], *keys: str) -> None:
    """Like the pilot's own, which also waits for the processor to be idle."""
    for key in keys:
        app.simulate_key(key)
        await shown(app, pilot)


async def settled_text(app: MonitorApp, pilot: Pilot[None]) -> str:
    """What stands on the screen once it stays the same: after a resize Textual lays out a few times, by its clock."""
    text, same = screen_text(app), 0
    for _ in range(MOST_LOOKS):
        await handled(pilot)
        await asyncio.sleep(LOOK_SECONDS)
        await shown(app, pilot)
        now = screen_text(app)
        text, same = now, same + 1 if now == text else 0
        if same == SAME_LOOKS:
            break
    return text


def screen_strips(app: MonitorApp) -> list[Strip]:
    """The lines of the screen."""
    visible_screen_stack.set(app._background_screens)
    return app.screen._compositor.render_strips()


def screen_text(app: MonitorApp) -> str:
    """What stands on the screen, without colours."""
    lines = [strip.text.rstrip() for strip in screen_strips(app)]
    return "\n".join(lines) + "\n"


def shown_toasts(app: MonitorApp) -> list[Notification]:
    return list(app._notifications)


def toasts(app: MonitorApp) -> list[str]:
    return [toast.message for toast in shown_toasts(app)]
