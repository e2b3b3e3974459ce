"""What `pie serve` refuses before a model is loaded."""

import json
import socket

import pytest

from pie_mlx.event_log import EventWriter, read_events
from pie_mlx.events import ProcessLaunched

EVENT = ProcessLaunched("p", "ada", "chat@1.0.0")


@pytest.mark.timeout(60)
def test_a_detached_engine_is_ready_when_the_command_returns_and_ends_with_pie_stop(pie, home):
    started = json.loads(pie("serve", "-d", "--dummy", "--port", "0", "--json").out)
    try:
        assert pie("ps", "--json").out == "[]\n"
        assert f"Server ready at {started['url']}" in (home / "serve.log").read_text()
        ended = pie("serve", "-d", "--dummy", "--port", "0")
        assert (ended.code, ended.err.splitlines()[0]) == (1, f"pie: {home}: an engine already runs with it")
    finally:
        assert pie("stop", "-y").code == 0


def test_a_detached_engine_that_cannot_start_says_why(pie):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = pie("serve", "-d", "--dummy", "--port", taken.getsockname()[1])
    assert (ended.code, "the engine did not start: " in ended.err, "is in use" in ended.err) == (1, True, True)


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
