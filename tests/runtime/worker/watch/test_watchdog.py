"""The watch, with a clock and a look of the test's own."""

import asyncio
import os
import subprocess
import threading

import pytest

from pie_mlx.runtime.process_memory import Residency, residency
from pie_mlx.runtime.worker.settings import WorkerSettings
from pie_mlx.runtime.worker.watch.watchdog import PROCESSES_LIMIT, Watchdog


class Executor:
    """What the watch sees of a running worker."""

    def __init__(self, heard_seconds=0.0, process_id=1):
        self.heard_seconds = heard_seconds
        self.is_debugged = False
        self.process_id = process_id
        self.engine_seconds = 0.0
        self.link = None
        self.spec = None
        self.verdict = ""
        self.pings = 0

    def kill_with(self, verdict):
        self.verdict = str(verdict)

    def ping(self):
        self.pings += 1


class Clock:
    """An event loop's clock that stands still."""

    def __init__(self):
        self.now = 0.0

    def time(self):
        return self.now

    def call_later(self, delay, callback):
        self.due = callback
        return asyncio.TimerHandle(0, callback, (), asyncio.get_running_loop())

    def run_in_executor(self, executor, function, argument):
        done = asyncio.get_running_loop().create_future()
        function(argument)
        done.set_result(None)
        return done

    def call_soon_threadsafe(self, act, *given):
        act(*given)


def looked_at(executor, seconds, *, found=None, step=0.25, **settings):
    """What the watch thinks of an executor after some seconds."""
    clock = Clock()
    watch = Watchdog(clock, WorkerSettings(**settings), {1: executor}, look=lambda pid: found or Residency(0, 1))
    watch.start()
    while clock.now < seconds:
        clock.now += step
        clock.due()
    return executor


async def test_who_is_silent_is_pinged_then_ended():
    assert looked_at(Executor(), 8.0).pings > 0
    assert looked_at(Executor(), 29.0).verdict == ""
    assert looked_at(Executor(), 31.0).verdict == "Watchdog: neither called nor yielded for 30 s"


async def test_who_was_heard_lately_is_left_alone():
    assert looked_at(Executor(heard_seconds=60.0), 61.0).pings == 0


async def test_nobody_is_blamed_for_an_engine_that_was_held_up():
    assert looked_at(Executor(), 100.0, step=50.0).verdict == ""


async def test_who_waits_for_the_engine_is_not_silent():
    executor = Executor()
    executor.link = type("Link", (), {"held": True})
    assert looked_at(executor, 100.0).verdict == ""


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (Residency(64 << 20, 1), ""),
        (Residency((64 << 20) + 1, 1), "Memory limit of 64 MiB exceeded"),
        (Residency(0, PROCESSES_LIMIT + 1), f"Process limit of {PROCESSES_LIMIT} exceeded"),
    ],
)
async def test_who_uses_too_much_is_ended(found, verdict):
    assert looked_at(Executor(), 1.0, found=found, max_memory_bytes=64 << 20).verdict == verdict


def test_the_memory_of_a_process_is_seen_from_outside():
    found = residency(os.getpid())
    assert found.resident_bytes > 8 << 20


def test_children_count():
    with subprocess.Popen(["sleep", "60"]) as child:
        found = residency(os.getpid())
        child.kill()
    assert found.processes >= 2


def test_a_process_that_is_gone_uses_nothing():
    with subprocess.Popen(["true"]) as child:
        child.wait()
    assert residency(child.pid).resident_bytes == 0


async def test_what_the_engine_computes_for_a_program_is_processor_time_of_that_program():
    executor = Executor()
    executor.engine_seconds = 2.5
    assert looked_at(executor, 1.0, max_cpu_seconds=3).verdict == ""
    assert looked_at(executor, 1.0, max_cpu_seconds=2).verdict == "CPU limit of 2 s exceeded"


async def test_a_program_that_a_debugger_may_stop_is_not_asked_for_signs_of_life_and_may_take_its_time():
    executor = Executor()
    executor.is_debugged, executor.engine_seconds = True, 1e3
    looked_at(executor, 61.0, max_cpu_seconds=1)
    assert (executor.pings, executor.verdict) == (0, "")


async def test_workers_are_looked_at_away_from_the_loop_one_round_at_a_time():
    loop, looks, may_end = asyncio.get_running_loop(), [], threading.Event()
    looked = asyncio.Event()

    def look(process_id):
        looks.append(threading.current_thread())
        loop.call_soon_threadsafe(looked.set)
        may_end.wait()
        return Residency((64 << 20) + 1, 1)

    executor = Executor()
    ended = asyncio.Event()
    executor.kill_with = lambda verdict: ended.set()
    watch = Watchdog(loop, WorkerSettings(max_memory_bytes=64 << 20), {1: executor}, look=look)
    watch.tick()
    await looked.wait()
    watch.tick()
    assert len(looks) == 1
    assert looks[0] is not threading.current_thread()
    may_end.set()
    await ended.wait()
    watch.stop()
