"""What is asked of the tick loop, and told, at each level."""

import asyncio
from dataclasses import dataclass, field

import pytest

from pie_mlx.engine.pressure import MemoryKeeper, MemoryReading, keeper
from pie_mlx.engine.pressure.gauge import CALM_READINGS
from pie_mlx.engine.pressure.keeper import STEP_READINGS
from pie_mlx.engine.scheduler.tick_state import MemoryTerms
from pie_mlx.events import Event, MemoryChanged

MIB = 1 << 20
NORMAL, WARNING, CRITICAL = (MemoryReading(16_000 * MIB, available * MIB) for available in (8000, 800, 80))


@dataclass
class Ticks:
    """A tick loop and a device that note what they are asked."""

    capacity_pages: int = 100
    terms: list[MemoryTerms] = field(default_factory=list[MemoryTerms])
    emptied: int = 0
    device: list[str] = field(default_factory=list[str])
    events: list[Event] = field(default_factory=list[Event])

    def set_memory_terms(self, terms: MemoryTerms) -> None:
        self.terms.append(terms)

    def empty_cache(self) -> None:
        self.emptied += 1

    async def ease(self) -> None:
        self.device.append("ease")

    async def hold(self) -> None:
        self.device.append("hold")

    @property
    def levels(self) -> list[str]:
        return [event.level for event in self.events if isinstance(event, MemoryChanged)]


async def after(*readings: MemoryReading) -> Ticks:
    ticks = Ticks()
    watching = MemoryKeeper(lambda: None, ticks, ticks, ticks.events.append)
    for reading in readings:
        await watching.observe(reading)
    return ticks


async def test_nothing_is_asked_while_there_is_enough() -> None:
    assert await after(NORMAL, NORMAL) == Ticks()


async def test_a_warning_empties_caches_once_and_bounds_batches() -> None:
    ticks = await after(NORMAL, WARNING, WARNING)
    assert (ticks.emptied, ticks.device, ticks.levels) == (1, ["ease"], ["warning"])
    assert ticks.terms[-1] == MemoryTerms(withheld_pages=0, step_bytes=400 * MIB)


async def test_critical_pressure_withholds_a_quarter_and_then_more_but_never_all() -> None:
    ticks = await after(*[CRITICAL] * (5 * STEP_READINGS))
    withheld = [terms.withheld_pages for terms in ticks.terms]
    assert withheld == [25] * STEP_READINGS + [50] * STEP_READINGS + [75] * 3 * STEP_READINGS
    assert ticks.levels == ["critical"] * 3
    assert ticks.terms[-1].step_bytes == 20 * MIB


async def test_everything_comes_back_when_it_is_over() -> None:
    ticks = await after(CRITICAL, *[NORMAL] * CALM_READINGS)
    assert ticks.terms[-1] == MemoryTerms()
    assert ticks.levels == ["critical", "normal"]
    assert ticks.device == ["ease", "hold"]


async def test_from_critical_to_warning_pages_come_back_and_batches_stay_bounded() -> None:
    ticks = await after(CRITICAL, *[WARNING] * CALM_READINGS)
    assert ticks.terms[-1] == MemoryTerms(0, 400 * MIB)
    assert ticks.levels == ["critical", "warning"]
    assert ticks.emptied == 1


async def test_an_event_tells_people_what_happens() -> None:
    ticks = await after(CRITICAL)
    (event,) = ticks.events
    assert isinstance(event, MemoryChanged)
    assert (event.available_bytes, event.withheld_pages) == (80 * MIB, 25)
    assert event.text.startswith("80 of 16,000 MiB available: 25 pages are left unused")


async def test_watching_ends_where_the_system_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "WATCH_SECONDS", 0)
    ticks, told = Ticks(), iter([WARNING, None])
    await MemoryKeeper(lambda: next(told), ticks, ticks, ticks.events.append).watch()
    assert ticks.levels == ["warning"]


async def test_watching_can_be_stopped() -> None:
    ticks = Ticks()
    watching = MemoryKeeper(lambda: NORMAL, ticks, ticks, ticks.events.append)
    await watching.stop()
    watching.start()
    await asyncio.sleep(0)
    await watching.stop()
    assert ticks.terms == []
