"""What two samples of the counters say of the GPU."""

from collections.abc import Mapping

import msgspec

from pie_mlx.gpu_meter.gpu_reading import GpuReading

JOULES = {"mJ": 1e-3, "uJ": 1e-6, "nJ": 1e-9}
ENERGY = "GPU Energy"
WHOLE_GPU = "GPUPH"
RESTING = frozenset({"IDLE", "OFF", "DOWN"})
CELSIUS = (1.0, 150.0)
"""Sensors without power report numbers beyond these."""


class Channel(msgspec.Struct, frozen=True, array_like=True):
    """A counter: its value in `unit`, or how long it was in each of its states."""

    name: str
    unit: str = ""
    value: int = 0
    states: tuple[tuple[str, int], ...] = ()


class Sample(msgspec.Struct, frozen=True):
    """An answer of the child, at `seconds`: counters since the machine started, and the problems of missing parts."""

    seconds: float = 0.0
    energy: tuple[Channel, ...] = ()
    states: tuple[Channel, ...] = ()
    celsius: tuple[float, ...] = ()
    problems: Mapping[str, str] = {}


def reading(earlier: Sample, later: Sample) -> GpuReading:
    """The reading for the time between two samples."""
    sensors = [sensor for sensor in later.celsius if CELSIUS[0] < sensor < CELSIUS[1]]
    return GpuReading(
        busy=_busy(_residencies(earlier), _residencies(later)),
        watts=_watts(_joules(earlier), _joules(later), later.seconds - earlier.seconds),
        celsius=sum(sensors) / len(sensors) if sensors else None,
        problem="; ".join(dict.fromkeys(later.problems.values())),
    )


def _joules(sample: Sample) -> float | None:
    """None without a counter of a known unit."""
    found = [JOULES[one.unit] * one.value for one in sample.energy if one.name == ENERGY and one.unit in JOULES]
    return sum(found) if found else None


def _watts(earlier: float | None, later: float | None, seconds: float) -> float | None:
    """None for a counter that went back: it began anew, or overflowed."""
    if earlier is None or later is None or later < earlier or seconds <= 0:
        return None
    return (later - earlier) / seconds


def _residencies(sample: Sample) -> dict[str, int]:
    """By state. The counter of the whole GPU is enough; without it, those of its parts."""
    whole = [one for one in sample.states if one.name == WHOLE_GPU]
    found: dict[str, int] = {}
    for channel in whole or sample.states:
        for name, residency in channel.states:
            found[name] = found.get(name, 0) + residency
    return found


def _busy(earlier: Mapping[str, int], later: Mapping[str, int]) -> float | None:
    spent = {name: residency - earlier.get(name, 0) for name, residency in later.items()}
    if not earlier or any(residency < 0 for residency in spent.values()) or not sum(spent.values()):
        return None
    resting = sum(residency for name, residency in spent.items() if name.upper() in RESTING)
    return 1.0 - resting / sum(spent.values())
