"""Workers of a user with many of them count for less, while another user has some."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pie_mlx.runtime.worker.priorities import NICEST, come_last, weigh, weigh_session


@dataclass
class Worker:
    username: str
    process_id: int | None = None
    niceness: int = 0


@pytest.fixture
def sleeper() -> "Iterator[subprocess.Popen[bytes]]":
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, process_group=0)
    yield process
    process.kill()
    process.communicate()


def test_workers_of_the_only_user_are_left_as_they_are():
    workers = [Worker("ada") for _ in range(9)]
    weigh(workers)
    assert [worker.niceness for worker in workers] == [0] * 9


def test_the_more_workers_a_user_has_the_less_the_next_one_counts(sleeper: "subprocess.Popen[bytes]"):
    flood, honest = [Worker("mallory", sleeper.pid if place == 3 else None) for place in range(4)], Worker("ada")
    weigh([*flood, honest])
    assert flood[3].niceness == 12 == os.getpriority(os.PRIO_PROCESS, sleeper.pid)
    assert honest.niceness == 0


def test_a_worker_that_leads_no_group_yet_is_weighed_too():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        flood = [Worker("mallory"), Worker("mallory", process.pid)]
        weigh([*flood, Worker("ada")])
        assert flood[1].niceness == 6 == os.getpriority(os.PRIO_PROCESS, process.pid)
        process.communicate(b"\n")


def test_a_worker_gets_no_less_nice_which_the_system_would_refuse(sleeper: "subprocess.Popen[bytes]"):
    nice = Worker("mallory", sleeper.pid, niceness=NICEST)
    weigh([nice, Worker("ada")])
    assert nice.niceness == NICEST


def test_a_worker_that_has_ended_is_no_error():
    weigh([Worker("mallory"), Worker("mallory", 2**22 - 1), Worker("ada")])


@pytest.mark.skipif(sys.platform != "linux", reason="macOS has no such priority")
def test_all_threads_of_a_worker_come_last():
    code = "import threading\nthreading.Thread(target=input).start()\nprint(flush=True)"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        come_last(process.pid)
        threads = os.listdir(f"/proc/{process.pid}/task")
        assert [os.sched_getscheduler(int(thread)) for thread in threads] == [os.SCHED_IDLE] * 2
        process.communicate(b"\n")


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="this system does not share among sessions")
def test_a_session_is_weighed_and_weighed_back():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True) as process:
        for niceness in (7, 0):
            while not weigh_session(process.pid, niceness):
                pass  # the system takes one change in a tenth of a second
            assert Path(f"/proc/{process.pid}/autogroup").read_text().split()[-1] == str(niceness)
        process.communicate(b"\n")


def test_a_session_that_is_gone_is_not_weighed():
    assert not weigh_session(2**22 - 1, 7)


def test_nothing_comes_last_of_a_worker_that_has_ended():
    come_last(2**22 - 1)
