"""From what a system tells of its memory to how short it is."""

import pytest

from pie_mlx.engine.pressure import Gauge, Level, MemoryReading, level_of
from pie_mlx.engine.pressure.gauge import CALM_READINGS

NORMAL, WARNING, CRITICAL = (MemoryReading(100, available) for available in (50, 5, 1))


@pytest.mark.parametrize(
    ("reading", "level"),
    [
        (MemoryReading(100, 8), Level.NORMAL),
        (MemoryReading(100, 7), Level.WARNING),
        (MemoryReading(100, 2), Level.CRITICAL),
        (MemoryReading(100, 90, stalled=10.0), Level.WARNING),
        (MemoryReading(100, 90, stalled=40.0), Level.CRITICAL),
        (MemoryReading(0, 0), Level.CRITICAL),
    ],
)
def test_memory_is_short_where_little_is_left_or_everybody_waits_for_it(reading: MemoryReading, level: Level) -> None:
    assert level_of(reading) is level


@pytest.mark.parametrize(("told", "level"), [(1, Level.NORMAL), (2, Level.WARNING), (4, Level.CRITICAL)])
def test_the_word_of_macos_counts(told: int, level: Level) -> None:
    assert level_of(MemoryReading(100, 1, system_level=told)) is level
    assert level_of(MemoryReading(100, 99, system_level=told)) is level


def test_the_level_rises_at_once() -> None:
    gauge = Gauge()
    assert [gauge.observe(reading) for reading in (NORMAL, WARNING, CRITICAL)] == [0, 1, 2]


def test_the_level_falls_when_enough_readings_in_a_row_are_lower() -> None:
    gauge = Gauge()
    gauge.observe(CRITICAL)
    assert [gauge.observe(NORMAL) for _ in range(CALM_READINGS)] == [2, 2, 2, 2, 0]


def test_a_relapse_starts_the_count_again() -> None:
    gauge = Gauge()
    readings = [CRITICAL, *[NORMAL] * (CALM_READINGS - 1), CRITICAL, *[NORMAL] * (CALM_READINGS - 1)]
    assert {gauge.observe(reading) for reading in readings} == {Level.CRITICAL}


def test_the_level_falls_no_further_than_the_readings() -> None:
    gauge = Gauge()
    gauge.observe(CRITICAL)
    assert [gauge.observe(reading) for reading in [NORMAL, WARNING, *[NORMAL] * 3]][-1] is Level.WARNING
