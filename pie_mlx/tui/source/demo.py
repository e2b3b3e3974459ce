"""The demo: a scripted engine that runs, and takes commands, without a model."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pie_mlx.events import Event, PagesCounted, PageUsage, ProcessLaunched
from pie_mlx.gpu_meter.gpu_reading import GpuReading
from pie_mlx.tui.model import Record
from pie_mlx.tui.model.facts import Connection, Facts, InstalledProgram, Machine, Parameter
from pie_mlx.tui.model.pool_books import PageBook, PoolBooks
from pie_mlx.tui.source.base import Feed, Link
from pie_mlx.tui.source.demo_pool import demo_page, demo_pool
from pie_mlx.tui.source.playback import Playback
from pie_mlx.tui.source.script import ROLES, USERS
from pie_mlx.tui.source.scripted_engine import TICK_SECONDS, ScriptedEngine

WARM_TICKS = 700
"""Ticks that run before the start, so that the charts have data."""


class DemoSource:
    """A source, and its own controller."""

    label = "a scripted engine"
    playback: Playback | None = None
    refusal = ""

    def __init__(self, engine: ScriptedEngine | None = None, *, warm_ticks: int = WARM_TICKS) -> None:
        self.engine = engine or ScriptedEngine()
        self._warm_ticks = warm_ticks
        self._feed: Feed | None = None
        self._seconds = 0.0
        self._usage = PageUsage(0, 0, 0, 0)

    async def run(self, feed: Feed) -> None:
        self.start(feed)
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self.tick(feed)

    def start(self, feed: Feed) -> None:
        """Feed the ticks before the start."""
        self._feed = feed
        feed.link(Link("demo"))
        feed.facts(demo_facts())
        feed.extend(self._records(self.engine.start()))
        for _ in range(self._warm_ticks):
            self.tick(feed)

    def tick(self, feed: Feed) -> None:
        """One tick of the engine."""
        self._seconds += TICK_SECONDS
        feed.extend(self._records(self.engine.tick()))

    async def watch_tokens(self, process: str) -> None:
        self.engine.watched = process

    async def pool(self, model: str = "") -> PoolBooks | None:
        is_known = self._usage.total and not model
        return demo_pool(self.engine.programs.values(), self._usage) if is_known else None

    async def page(self, number: int, model: str = "") -> PageBook | None:
        books = await self.pool()
        return demo_page(books, number) if books is not None else None

    async def kill(self, process: str) -> None:
        self._feed_events(self.engine.kill(process))

    async def suspend(self, process: str) -> None:
        self._feed_events(self.engine.suspend(process))

    async def set_bid(self, process: str, bid: float) -> None:
        self._feed_events(self.engine.set_bid(process, bid))

    async def attach(self, process: str) -> None:
        """The demo shows the output of all programs anyway."""

    async def send(self, process: str, text: str) -> None:
        self._feed_events(self.engine.send(process, text))

    async def send_file(self, process: str, path: str) -> None:
        self._feed_events(self.engine.send(process, Path(path).name))

    async def launch(self, program: str, input: dict[str, Any], token_budget: int | None) -> str:
        events = self.engine.launch(program)
        self._feed_events(events)
        return next(event.process for event in events if isinstance(event, ProcessLaunched))

    def _feed_events(self, events: Iterable[Event]) -> None:
        if self._feed is not None:
            self._feed.extend(self._records(events))

    def _records(self, events: Iterable[Event]) -> list[Record]:
        records = [Record(self._seconds, event) for event in events]
        self._usage = next((event.pages for _, event in records if isinstance(event, PagesCounted)), self._usage)
        return records


def demo_facts() -> Facts:
    """The facts of the scripted engine."""
    connections = [Connection(str(number), user, f"127.0.0.1:{50210 + number}") for number, user in enumerate(USERS, 1)]
    machine = Machine(
        memory_bytes=36 << 30,
        available_bytes=11 << 30,
        pressure="normal",
        swap_used_bytes=700 << 20,
        swap_bytes=2 << 30,
        weights_bytes=8 << 30,
        pool_bytes=6 << 30,
        other_bytes=900 << 20,
        engine_bytes=16 << 30,
        programs_bytes=1200 << 20,
        processors=12,
        load=3.4,
        gpu=GpuReading(0.83, 21.4, 64.0),
    )
    return Facts(tuple(connections), tuple(_installed(role.program) for role in ROLES), machine=machine)


def _installed(identity: str) -> InstalledProgram:
    name, _, version = identity.partition("@")
    return InstalledProgram(
        name,
        version,
        f"The demo's {name.replace('-', ' ')}",
        (
            Parameter("prompt", "string", required=True, description="What to ask"),
            Parameter("max_tokens", "int", 256, description="Longest answer"),
            Parameter("temperature", "float", 0.7, description="How freely to choose"),
            Parameter("verbose", "bool", False, description="Say more"),
        ),
    )
