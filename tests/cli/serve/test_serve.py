"""What `pie serve` refuses before a model is loaded."""

import socket

import pytest

from pie_mlx.event_log import EventWriter, read_events
from pie_mlx.events import ProcessLaunched
from pie_mlx.server.run_files import lock_home

EVENT = ProcessLaunched("p", "ada", "chat@1.0.0")


def test_a_detached_engine_that_cannot_start_says_why(pie, monkeypatch):
    failing = ["/bin/sh", "-c", "printf 'pie: port 1: not permitted\\n     try: another\\n' >&2; exit 1"]
    monkeypatch.setattr("pie_mlx.cli.engine.spawning.engine_command", lambda words, common: failing)
    ended = pie("serve", "-d", "--port", "1")
    said = "pie: the engine did not start: port 1: not permitted\n     try: another\n"
    assert (ended.code, ended.err) == (1, said)


def test_a_second_engine_is_not_left_running(pie, home):
    with lock_home(home):
        ended = pie("serve", "-d")
    assert (ended.code, ended.err.splitlines()[0]) == (1, f"pie: {home}: an engine already runs with it")


def test_an_engine_that_is_left_running_gets_the_options_of_the_command(pie, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "pie_mlx.cli.engine.spawning.engine_command", lambda words, common: seen.extend(words) or ["false"]
    )
    pie("serve", "--detach", "--port", "0", "--host", "127.0.0.1", "--model", "m", "--dummy", "--no-auth")
    assert seen == ["--host", "127.0.0.1", "--port", "0", "--model", "m", "--no-auth", "--dummy"]


@pytest.fixture
def recording(tmp_path):
    with EventWriter(tmp_path / "run.events") as log:
        log.write(EVENT)
    return tmp_path / "run.events"


def test_an_engine_that_gets_no_port_leaves_the_recording_as_it_was(pie, recording):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = pie("serve", "--dummy", "--port", taken.getsockname()[1], "--record", recording)
    assert (ended.code, "is in use" in ended.err) == (1, True)
    assert read_events(recording).events == (EVENT,)


def test_a_recording_that_cannot_be_written_is_one_clear_line(pie, monkeypatch):
    monkeypatch.setenv("PIE_LOG", "/nothing/there")
    ended = pie("serve", "--dummy", "--port", "0")
    assert (ended.code, ended.err.splitlines()[0]) == (
        2,
        "pie: --record or PIE_LOG /nothing/there: No such file or directory",
    )


@pytest.mark.parametrize("words", [("serve", "--port", "0", "--record"), ("run", "a.py", "--log")])
def test_a_recording_never_replaces_another_kind_of_file(pie, tmp_path, words):
    (tmp_path / "precious.txt").write_text("words")
    ended = pie(*words, tmp_path / "precious.txt", "--dummy")
    assert ended.code == 1
    assert ended.err.startswith(f"pie: event log {tmp_path / 'precious.txt'}: it is there already and is no event log")
    assert (tmp_path / "precious.txt").read_text() == "words"
