"""What `pie stop` refuses, beside a server on a thread of this process, which no signal may reach."""

import os
import signal

import pytest

from pie_mlx.client import discovery
from pie_mlx.server.run_files import lock_home
from tests.server.conftest import server

__all__ = ["server"]

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def served(server, monkeypatch):
    monkeypatch.setenv("PIE_HOME", str(server.home))
    return server


@pytest.fixture
def signals(monkeypatch):
    """The signals that would have been sent; the engine lets go of its home at the first."""
    sent = []

    def kill(pid, number):
        if number:
            sent.append((pid, number))
            monkeypatch.setattr("pie_mlx.cli.stop.stopping.is_home_in_use", lambda home: False)

    monkeypatch.setattr(os, "kill", kill)
    return sent


def test_without_an_engine_there_is_nothing_to_stop(pie, home):
    ended = pie("stop")
    assert (ended.code, ended.err.splitlines()[0]) == (1, f"pie: no engine is running on {home}")


def test_an_engine_that_is_starting_is_said_to_be(pie, home):
    with lock_home(home):
        ended = pie("stop")
    assert (ended.code, ended.err.splitlines()[0]) == (1, f"pie: the engine on {home} is starting or ending")


def test_the_engine_that_runs_here_is_told_to_end(pie, served, signals):
    assert pie("stop", "-q").out == ""
    assert signals == [(os.getpid(), signal.SIGTERM)]


def test_a_process_that_does_not_listen_gets_no_signal(pie, served, signals, monkeypatch):
    monkeypatch.setattr(discovery, "peer_process", lambda connection: 1)
    ended = pie("stop", "--yes")
    assert (ended.code, "is not the one that listens at" in ended.err) == (1, True)
    assert signals == []


def test_an_engine_of_somebody_else_is_not_ended(pie, served, monkeypatch):
    def kill(pid, number):
        if number:
            raise PermissionError

    monkeypatch.setattr(os, "kill", kill)
    ended = pie("stop", "--yes")
    assert (ended.code, "it is another user's" in ended.err) == (1, True)


def test_an_engine_that_does_not_end_is_said_so(pie, served, monkeypatch):
    monkeypatch.setattr(os, "kill", lambda pid, number: None)
    monkeypatch.setattr("pie_mlx.cli.stop.stopping.END_SECONDS", 0.0)
    ended = pie("stop", "--yes")
    assert (ended.code, f"kill -9 {os.getpid()} ends it" in ended.err) == (1, True)


@pytest.mark.parametrize("words", [("--url", "ws://there:1"), ("abcd",)])
def test_an_engine_elsewhere_and_a_program_are_not_what_it_ends(pie, served, signals, words):
    assert pie("stop", *words).code == 2
    assert signals == []
