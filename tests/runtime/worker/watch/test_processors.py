"""Who computes all the time comes after the others, with a clock and times of the test's own."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.runtime.worker.priorities import NICEST
from pie_mlx.runtime.worker.watch.processors import (
    EXCESS_SECONDS,
    LOOK_SECONDS,
    MOST_EXCESS_SECONDS,
    SESSION_NICENESS,
    SHARE,
    STEP,
    ProcessorWatch,
    processor_seconds,
)


@dataclass
class Worker:
    username: str
    process_id: int | None
    niceness: int = 0


@dataclass
class Machine:
    """A loop's clock, and how much of a processor each process uses."""

    shares: dict[int, float]
    now: float = 0.0
    used: dict[int, float] = field(default_factory=dict[int, float])
    last: set[int] = field(default_factory=set[int])
    sessions: list[int] = field(default_factory=list[int])

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, callback: Callable[[], object]) -> asyncio.TimerHandle:
        self._look = callback
        return cast("asyncio.TimerHandle", None)

    def run(self, *workers: Worker, looks: int) -> None:
        """Let that many looks at the workers pass."""
        self.watch(dict(enumerate(workers)))
        self.pass_looks(looks)

    def watch(self, workers: dict[int, Worker]) -> None:
        loop = cast("asyncio.AbstractEventLoop", self)
        used = lambda pid: self.used.get(pid, 0.0)  # noqa: E731
        ProcessorWatch(loop, workers, used, self.last.add, self.weigh_session).start()

    def weigh_session(self, niceness: int) -> bool:
        self.sessions.append(niceness)
        return len(self.sessions) != 1

    def pass_looks(self, looks: int) -> None:
        for _ in range(looks):
            self.now += LOOK_SECONDS
            for process_id, share in self.shares.items():
                self.used[process_id] = self.used.get(process_id, 0.0) + share * LOOK_SECONDS
            self._look()


@pytest.fixture
def niceness(monkeypatch: pytest.MonkeyPatch) -> dict[int, int]:
    """What the system is told of each process."""
    told: dict[int, int] = {}
    monkeypatch.setattr(os, "setpriority", lambda kind, process_id, value: told.update({process_id: value}))
    return told


def test_who_computes_all_the_time_steps_back_behind_who_decodes(niceness: dict[int, int]) -> None:
    Machine({1: 1.0, 2: 0.05}).run(Worker("mallory", 1), Worker("ada", 2), looks=3)
    assert niceness == {1: STEP}


def test_who_uses_several_processors_steps_back_sooner_and_further_until_it_is_the_nicest(
    niceness: dict[int, int],
) -> None:
    Machine({1: 2.0, 2: 1.0}).run(Worker("mallory", 1), Worker("ada", 2), looks=3)
    assert niceness[1] > niceness[2]
    Machine({1: 2.0}).run(Worker("mallory", 1), Worker("ada", 2), looks=40)
    assert niceness[1] == NICEST


def test_who_computes_on_though_it_is_the_nicest_comes_last(niceness: dict[int, int]) -> None:
    machine = Machine({1: 2.0, 2: 0.05})
    machine.run(Worker("mallory", 1), Worker("ada", 2, niceness=NICEST), looks=4)
    assert machine.last == set()
    machine.run(Worker("mallory", 1), Worker("ada", 2, niceness=NICEST), looks=40)
    assert machine.last == {1}


@pytest.mark.usefixtures("niceness")
def test_busy_workers_together_count_for_less_than_the_engine_until_they_rest() -> None:
    machine, workers = Machine({1: 0.2, 2: 0.2}), {1: Worker("mallory", 1), 2: Worker("ada", 2)}
    machine.watch(workers)
    machine.pass_looks(1)
    assert machine.sessions == [SESSION_NICENESS]  # which the system refuses once
    machine.pass_looks(4)
    assert machine.sessions == [SESSION_NICENESS] * 2
    machine.shares = {1: 0.1, 2: 0.1}
    machine.pass_looks(4)
    assert machine.sessions == [SESSION_NICENESS] * 2 + [0]


@pytest.mark.usefixtures("niceness")
def test_workers_that_come_and_go_are_busy_together() -> None:
    machine, workers = Machine({1: 0.05}), {0: Worker("ada", 1)}
    machine.watch(workers)
    for process_id in range(2, 6):
        workers[process_id] = Worker("mallory", process_id)
        machine.used[process_id] = 0.2
        machine.pass_looks(1)
        del workers[process_id]
    assert machine.sessions == [SESSION_NICENESS] * 2


def test_the_only_user_computes_as_it_likes(niceness: dict[int, int]) -> None:
    Machine({1: 2.0, 2: 2.0}).run(Worker("ada", 1), Worker("ada", 2), looks=40)
    assert niceness == {}


def test_the_session_of_the_only_user_is_left_as_it_is() -> None:
    machine = Machine({1: 2.0, 2: 2.0})
    machine.run(Worker("ada", 1), Worker("ada", 2), looks=8)
    assert machine.sessions == []


def test_what_was_used_before_others_came_is_remembered_for_a_while(niceness: dict[int, int]) -> None:
    machine, workers = Machine({1: 1.0}), {1: Worker("mallory", 1)}
    machine.watch(workers)
    machine.pass_looks(40)
    workers[2] = Worker("ada", 2)
    machine.pass_looks(1)
    assert niceness == {1: STEP}
    machine.shares = {1: 0.0}
    machine.pass_looks(40)
    assert niceness[1] <= MOST_EXCESS_SECONDS / EXCESS_SECONDS * STEP


def test_what_was_used_before_the_first_look_counts_for_nothing(niceness: dict[int, int]) -> None:
    Machine({1: 0.05}, used={1: 100.0}).run(Worker("mallory", 1), Worker("ada", 2), looks=8)
    assert niceness == {}


def test_a_worker_without_a_process_is_passed_over(niceness: dict[int, int]) -> None:
    Machine({}).run(Worker("mallory", None), Worker("ada", 2), looks=8)
    assert niceness == {}


@given(st.floats(0, SHARE), st.integers(1, 100))
def test_nobody_steps_back_for_its_share(share: float, looks: int) -> None:
    worker = Worker("mallory", 2**22 - 1)
    Machine({2**22 - 1: share}).run(worker, Worker("ada", None), looks=looks)
    assert worker.niceness == 0


def test_the_processor_time_of_another_process_is_seen() -> None:
    code = f"import time\nwhile time.process_time() < {EXCESS_SECONDS / 10}: pass\nprint(flush=True)\ninput()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert processor_seconds(process.pid) >= EXCESS_SECONDS / 10
        process.communicate(b"\n")
    assert processor_seconds(process.pid) == 0
