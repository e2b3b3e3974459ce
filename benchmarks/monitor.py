"""What the monitor costs: processor time, `python -m benchmarks.monitor`.

A scripted engine ticks ten times a second, in real time; the application shows what has come as it does for a person,
four times a second or less often where that would take more than a twentieth of a core. All of it counts: folding
events, formatting, composing the screen, and writing escape codes to nowhere. What making the events costs is taken
off. The batch holds 64 contexts at most, as an engine's does. `idle` is the same application with nothing to show.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from typing import Any

from pie_mlx.tui.app import MonitorApp
from pie_mlx.tui.model.pool_books import PoolBooks
from pie_mlx.tui.pacing import LONGEST_PAUSE_SECONDS
from pie_mlx.tui.source.base import Feed
from pie_mlx.tui.source.demo import DemoSource
from pie_mlx.tui.source.scripted_engine import TICK_SECONDS, ScriptedEngine

SMOKE = ("--programs", "10", "--screens", "overview", "--seconds", "0.1")
PROGRAMS = (10, 200, 1000)
SCREENS = ("overview", "inferlets", "market", "pages", "latency", "engine", "tokens")
SIZE = (160, 50)
PAGES_PER_PROGRAM = 20
CLOCK = time.process_time
"""Processor time, so that other programs on the machine do not count."""


class MeteredSource(DemoSource):
    """Ticks while `running`, and knows what that took."""

    running = False
    making_seconds = 0.0

    async def run(self, feed: Feed) -> None:
        self.start(feed)
        while True:
            await asyncio.sleep(TICK_SECONDS)
            if self.running:
                before = CLOCK()
                self.tick(feed)
                self.making_seconds += CLOCK() - before

    async def pool(self, model: str = "") -> PoolBooks | None:
        """An engine of its own would make it in its own process."""
        before = CLOCK()
        books = await super().pool()
        self.making_seconds += CLOCK() - before
        return books


class MeteredApp(MonitorApp):
    """Counts its refreshes."""

    refreshes = 0

    def refresh_now(self) -> None:
        self.refreshes += 1
        super().refresh_now()


async def measure(programs: int, screens: Sequence[str], seconds: float) -> list[tuple[str, float, float, float]]:
    """Screen, refreshes a second, and shares of a core: beyond idle, and idle."""
    source = MeteredSource(ScriptedEngine(programs, programs * PAGES_PER_PROGRAM), warm_ticks=60)
    app = MeteredApp(source, source)
    rows: list[tuple[str, float, float, float]] = []
    async with app.run_test(size=SIZE) as pilot:
        for screen in screens:
            if screen == "tokens":
                app.open_tokens(app.view.programs[0].id)
            else:
                app.show_tab(screen)
            await pilot.pause(min(seconds, LONGEST_PAUSE_SECONDS + 0.5))  # the latest refresh is over
            idle = await share(pilot, min(seconds, 2.0))
            source.running, source.making_seconds, app.refreshes = True, 0.0, 0
            busy = await share(pilot, seconds)
            source.running = False
            rows.append((screen, app.refreshes / seconds, busy - idle - source.making_seconds / seconds, idle))
    return rows


async def share(pilot: Any, seconds: float) -> float:
    """Of one core, over so much real time."""
    started, before = time.monotonic(), CLOCK()
    await pilot.pause(seconds)
    return (CLOCK() - before) / (time.monotonic() - started)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="real time for each line")
    parser.add_argument("--programs", type=int, nargs="+", default=PROGRAMS)
    parser.add_argument("--screens", nargs="+", choices=SCREENS, default=SCREENS)
    given = parser.parse_args(words)
    print(f"{'programs':>8}  {'screen':10} {'refreshes/s':>11} {'of a core beyond idle':>22} {'idle':>7}")
    for programs in given.programs:
        for screen, refreshes, busy, idle in asyncio.run(measure(programs, given.screens, given.seconds)):
            print(f"{programs:>8}  {screen:10} {refreshes:>11.1f} {busy:>20.1%}   {idle:>7.1%}")


if __name__ == "__main__":
    main()
