"""The child that reads the counters may die, hang and babble: the meter says so, and nothing else happens."""

import sys

import pytest

from pie_mlx.gpu_meter.gpu_reading import NO_GPU
from pie_mlx.gpu_meter.meter import COMMAND, REST_SECONDS, GpuMeter

ANSWERS = """
import json, sys
place = 0
for line in sys.stdin:
    place += 1
    energy = [["GPU Energy", "mJ", 5000 * place, []]]
    states = [["GPUPH", "", 0, [["OFF", 30 * place], ["P1", 10 * place]]]]
    print(json.dumps({"seconds": place, "energy": energy, "states": states, "celsius": [40 + place], "problems": {}}))
    sys.stdout.flush()
    if place == LIMIT:
        sys.exit(0)
"""


class Clock:
    seconds = 0.0

    def __call__(self):
        return self.seconds

    def pass_time(self, seconds):
        self.seconds += seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def meter(clock):
    made = []

    def start(program, **more):
        command = (sys.executable, "-I", "-S", "-c", program)
        made.append(GpuMeter(command, is_present=True, clock=clock, wait=clock.pass_time, **more))
        return made[-1]

    yield start
    for each in made:
        each.close()


def test_the_first_reading_is_of_two_samples_and_serves_all_who_ask_within_a_second(meter, clock):
    gpu = meter(ANSWERS.replace("LIMIT", "0"))
    first = gpu.read()
    assert (first.busy, first.watts, first.celsius, first.problem) == (pytest.approx(0.25), 5.0, 42.0, "")
    clock.pass_time(0.9)
    assert gpu.read() is first
    clock.pass_time(0.1)
    assert gpu.read().celsius == 43.0
    clock.pass_time(60.0)
    assert gpu.read().celsius == 45.0, "a sample from before a pause does not count"


def test_a_child_that_ended_because_nobody_asked_is_started_again(meter, clock):
    gpu = meter(ANSWERS.replace("LIMIT", "2"))
    assert gpu.read().celsius == 42.0
    gpu.child.wait()
    clock.pass_time(60.0)
    assert gpu.read().celsius == 42.0


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("import os, signal; input(); os.kill(os.getpid(), signal.SIGSEGV)", "counters ended with -11"),
        ("import os; os._exit(3)", "counters ended with 3"),
        ("import os; os.close(1); input(); input()", "is silent"),
        ("input(); print('?', flush=True); input()", "an unknown form"),
        ("input(); print('{\"celsius\": [NaN]}', flush=True); input()", "an unknown form"),
        ("input(); print('{', end='', flush=True); input()", "did not come within 0.3 s"),
    ],
    ids=["crash", "exit", "closed", "babble", "nan", "hang"],
)
def test_a_child_that_dies_hangs_or_babbles_is_told_and_left_alone_for_a_while(
    meter, clock, monkeypatch, program, problem
):
    monkeypatch.setattr("pie_mlx.gpu_meter.meter.END_SECONDS", 0.3)
    gpu = meter(program, answer_seconds=0.3 if "'{'" in program else 30.0)
    found = gpu.read()
    assert (found.busy, found.watts, found.celsius) == (None, None, None)
    assert problem in found.problem
    assert gpu.child is None
    clock.pass_time(REST_SECONDS - 1)
    assert gpu.read() is found
    clock.pass_time(1)
    assert gpu.read() is not found


def test_a_program_that_is_not_there_is_told(clock):
    found = GpuMeter(("/nowhere/at/all",), is_present=True, clock=clock).read()
    assert "/nowhere/at/all" in found.problem


def test_without_an_apple_gpu_no_child_is_started():
    assert GpuMeter(("/nowhere/at/all",), is_present=False).read() == NO_GPU


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac has the libraries")
def test_the_real_child_says_what_it_lacks_where_there_are_no_such_libraries(clock):
    gpu = GpuMeter(COMMAND, is_present=True, clock=clock, wait=clock.pass_time, answer_seconds=30.0)
    found = gpu.read()
    gpu.close()
    assert "CoreFoundation" in found.problem
    assert "IOKit" in found.problem
