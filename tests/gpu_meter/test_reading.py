"""What two samples of the counters say."""

import pytest

from pie_mlx.gpu_meter.gpu_reading import GpuReading
from pie_mlx.gpu_meter.reading import Channel, Sample, reading


def energy(unit, value, name="GPU Energy"):
    return Channel(name, unit, value)


def states(name="GPUPH", **residencies):
    return Channel(name, states=tuple(residencies.items()))


@pytest.mark.parametrize(("unit", "value"), [("mJ", 24_000), ("uJ", 24_000_000), ("nJ", 24_000_000_000)])
def test_power_is_the_energy_between_two_samples_in_every_unit(unit, value):
    first, second = Sample(10.0, (energy(unit, value),)), Sample(12.0, (energy(unit, 2 * value),))
    assert reading(first, second).watts == pytest.approx(12.0)


def test_other_counters_of_energy_do_not_count():
    channels = (energy("mJ", 5000), energy("mJ", 70, "CPU Energy"), energy("kWh", 3))
    assert reading(Sample(0.0, (energy("mJ", 0),)), Sample(1.0, channels)).watts == pytest.approx(5.0)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Sample(0.0, (energy("mJ", 9),)), Sample(1.0, (energy("mJ", 8),))),
        (Sample(1.0, (energy("mJ", 9),)), Sample(1.0, (energy("mJ", 19),))),
        (Sample(0.0, (energy("Wh", 1),)), Sample(1.0, (energy("Wh", 2),))),
        (Sample(0.0), Sample(1.0, (energy("mJ", 9),))),
    ],
    ids=["back", "no time", "unknown unit", "new"],
)
def test_energy_that_goes_back_or_has_no_unit_is_no_power(first, second):
    assert reading(first, second).watts is None


def test_the_gpu_is_busy_while_it_is_in_no_state_of_rest():
    first = Sample(0.0, states=(states(OFF=100, P1=10, P2=0, IDLE=5),))
    second = Sample(1.0, states=(states(OFF=150, P1=30, P2=20, IDLE=15),))
    assert reading(first, second).busy == pytest.approx(0.4)


def test_the_counter_of_the_whole_gpu_counts_and_its_parts_without_it():
    parts = (states("A", OFF=10, P1=0), states("B", OFF=0, P1=30))
    nothing = (states("A", OFF=0, P1=0), states("B", OFF=0, P1=0), states(OFF=0, P1=0))
    assert reading(Sample(states=nothing[:2]), Sample(states=parts)).busy == pytest.approx(0.75)
    whole = (*parts, states(OFF=1, P1=1))
    assert reading(Sample(states=nothing), Sample(states=whole)).busy == pytest.approx(0.5)


@pytest.mark.parametrize("first", [(), (states(OFF=10, P1=9),), (states(OFF=10, P1=5),)], ids=["new", "back", "still"])
def test_residencies_that_go_back_or_stand_still_are_no_load(first):
    assert reading(Sample(states=first), Sample(states=(states(OFF=10, P1=5),))).busy is None


def test_the_temperature_is_the_mean_of_the_sensors_that_have_power():
    assert reading(Sample(), Sample(celsius=(0.0, 50.0, 60.0, -127.0, 5000.0))).celsius == pytest.approx(55.0)
    assert reading(Sample(), Sample(celsius=(0.0,))).celsius is None


def test_what_is_missing_says_why_once():
    told = Sample(problems={"energy": "IOReport is gone", "states": "IOReport is gone", "celsius": "no SMC"})
    assert reading(Sample(), told) == GpuReading(problem="IOReport is gone; no SMC")
