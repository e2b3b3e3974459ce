"""The machine of the engine, from injected readings."""

import os

import msgspec
import pytest

from pie_mlx.engine.pressure import MemoryReading
from pie_mlx.gpu_meter.gpu_reading import NO_GPU, GpuReading
from pie_mlx.server.watching.machine import machine_figures
from pie_mlx.system import swap_bytes
from pie_mlx.tui.model.facts import Machine
from pie_mlx.tui.screens.engine import gpu_problem, machine_rows


def figures(reading, **more):
    return machine_figures(lambda: reading, **{"swap": lambda: (1, 4), "load": lambda: (2.5, 1.0, 1.0), **more})


def test_memory_pressure_swap_and_load_are_those_of_the_system():
    found = figures(MemoryReading(1000, 400, system_level=2))
    assert (found["memory_bytes"], found["available_bytes"], found["pressure"]) == (1000, 400, "warning")
    assert (found["swap_used_bytes"], found["swap_bytes"], found["load"]) == (1, 4, 2.5)
    assert found["processors"] == os.cpu_count()
    assert found["engine_bytes"] > 1 << 20


def test_what_a_system_does_not_report_is_nothing_and_shown_as_a_dot():
    def unknown():
        raise OSError

    found = figures(None, swap=lambda: (0, 0), load=unknown)
    assert (found["memory_bytes"], found["pressure"], found["load"]) == (0, "", 0.0)
    rows = {row[0].text.strip(): row[1].text for row in machine_rows(Machine(**found))}
    assert rows["memory"] == rows["pressure"] == rows["swap"] == "·"


def test_swap_on_a_mac_is_read_from_its_setting():
    usage = b"".join(number.to_bytes(8, "little") for number in (2 << 30, 1 << 30, 3 << 29)) + bytes(8)
    assert swap_bytes(setting=lambda name: usage if name == "vm.swapusage" else b"") == (3 << 29, 2 << 30)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SwapTotal: 100 kB\nSwapFree: 40 kB\n", (60 << 10, 100 << 10)),
        ("MemTotal: 1 kB\n", (0, 0)),
        ("SwapTotal:\n", (0, 0)),
    ],
)
def test_swap_on_linux_is_read_from_proc(tmp_path, text, found):
    (tmp_path / "meminfo").write_text(text)
    assert swap_bytes(tmp_path / "meminfo") == found
    assert swap_bytes(tmp_path / "none") == (0, 0)


def test_memory_of_other_processes_is_what_the_engine_and_its_programs_leave():
    machine = Machine(memory_bytes=10 << 30, available_bytes=2 << 30, engine_bytes=5 << 30, programs_bytes=1 << 30)
    rows = {row[0].text: row[1].text for row in machine_rows(machine)}
    assert (rows["memory"], rows["all others"]) == ("8.0 GiB of 10.0 GiB", "2.0 GiB")


@pytest.mark.parametrize(
    ("reading", "shown", "problem"),
    [
        (GpuReading(0.834, 21.44, 63.6), "83%  21.4 W  64 °C", ""),
        (GpuReading(0.5, None, None, "no SMC"), "50%  ·  ·", "GPU not readable here: no SMC"),
        (NO_GPU, "·", "GPU not readable here: no Apple GPU"),
    ],
)
def test_the_gpu_is_shown_as_far_as_it_can_be_read_and_said_why_not_further(reading, shown, problem):
    machine = msgspec.convert(msgspec.to_builtins(figures(None, gpu=lambda: reading)), Machine)
    rows = {row[0].text: row[1].text for row in machine_rows(machine)}
    assert (rows["GPU"], gpu_problem(machine)) == (shown, problem)


def test_a_machine_that_nothing_is_told_of_says_nothing_about_its_gpu():
    assert gpu_problem(None) == ""
