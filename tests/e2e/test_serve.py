"""`pie serve` as a process of its own: how it starts, how it ends, and what is left when it is killed."""

import contextlib
import json
import os
import shutil
import signal
import socket
import urllib.request

import pytest

from pie_mlx.engine.model.loading.sources import EMBEDDED
from tests.server.programs import PLAYER
from tests.serving import Serving

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def serving(tmp_path):
    started = []

    def serve(*flags, home=tmp_path / "home", **options):
        started.append(Serving(home, *flags, **options))
        return started[-1]

    yield serve
    for one in started:
        one.clean_up()


@pytest.fixture
def player(tmp_path):
    path = tmp_path / "player.py"
    path.write_text(PLAYER)
    return path


def test_a_server_from_start_to_end(serving, player):
    engine = serving("--port", "0", "--record", player.with_name("events"))
    info = engine.ready()
    assert info["url"].startswith("ws://127.0.0.1:")
    with urllib.request.urlopen(f"{info['openai']}/models") as answer:
        assert json.load(answer)["data"][0]["id"] == info["model"]
    assert (engine.home / "run" / "engine.json").stat().st_mode & 0o777 == 0o600
    assert (engine.home / "run" / "engine.sock").stat().st_mode & 0o777 == 0o600
    assert (engine.home / "run").stat().st_mode & 0o777 == 0o700  # 8.4
    assert engine.pie("run", player, "--", "--do", "talk") == (0, 'out\n{"a":1}\n{"done": true}\n', "err\n")
    assert engine.pie("run", player, "--", "--do", "generate") == (0, "4\n", "")
    following = engine.start("run", player, "--", "--do", "wait")
    assert following.stdout.read(7) == "waiting"
    assert engine.end(signal.SIGTERM) == 0  # 4.1
    assert following.wait() == 1
    assert "Engine stopped" in following.stderr.read()
    assert [path.name for path in (engine.home / "run").iterdir()] == ["lock"]
    from pie_mlx.event_log import read_events

    log = read_events(player.with_name("events"))
    assert {"engine_started", "process_launched", "pass_completed", "process_failed"} <= {e.kind for e in log.events}


def test_the_environment_may_name_the_recording(serving, player, monkeypatch):
    monkeypatch.setenv("PIE_LOG", str(player.with_name("events")))
    engine = serving("--port", "0")
    engine.ready()
    assert engine.end(signal.SIGTERM) == 0
    from pie_mlx.event_log import read_events

    assert "engine_started" in {event.kind for event in read_events(player.with_name("events")).events}


def test_an_interrupted_run_ends_its_program(serving, player):
    engine = serving("--port", "0")
    engine.ready()
    child = engine.start("run", player, "--", "--do", "wait")
    assert child.stdout.read(7) == "waiting"
    child.send_signal(signal.SIGINT)
    assert child.wait() == 130
    (row,) = json.loads(engine.pie("ps", "--all", "--json")[1])
    assert row["state"] == "killed"
    assert engine.end(signal.SIGINT) == 130


@pytest.fixture
def detached(serving):
    """An engine that was left running, and what was said of it."""
    engine = serving("--port", "0", "-d")
    info = engine.ready()
    yield engine, info
    with contextlib.suppress(ProcessLookupError):
        os.kill(info["pid"], signal.SIGKILL)


def test_stop_ends_an_engine_that_was_left_running_and_waits_for_its_end(detached):
    engine, info = detached
    assert engine.child.wait(timeout=5) == 0
    assert f"Server ready at {info['url']}" in (engine.home / "serve.log").read_text()
    assert engine.pie("stop") == (0, f"the engine at {info['url']} has ended\n", "")
    assert [path.name for path in (engine.home / "run").iterdir()] == ["lock"]
    code, out, err = engine.pie("stop")
    assert (code, out, err.splitlines()) == (
        1,
        "",
        [
            f"pie: no engine is running on {engine.home}",
            "     try: there is nothing to stop; 'pie serve' starts one",
        ],
    )


def test_stop_ends_programs_only_with_a_yes(serving, player):
    engine = serving("--port", "0")
    pid = engine.ready()["pid"]
    child = engine.start("run", player, "--", "--do", "wait")
    assert child.stdout.read(7) == "waiting"
    code, _, err = engine.pie("stop")
    assert (code, err.startswith("pie: 1 program runs on it and ends with the engine. Stop it?")) == (2, True)
    assert child.poll() is None
    code, out, _ = engine.pie("stop", "--yes", "--json")
    assert (code, json.loads(out)["pid"]) == (0, pid)
    assert child.wait() == 1


def test_what_a_killed_server_leaves(serving, player):
    first = serving("--port", "0")
    first.ready()
    assert first.pie("install", player)[0] == 0
    assert first.pie("run", "player", "--", "--do", "talk")[0] == 0
    (row,) = json.loads(first.pie("ps", "--all", "--json")[1])
    first.end(signal.SIGKILL)
    assert (first.home / "run" / "engine.json").exists()
    code, _, err = first.pie("ps")
    assert (code, err.startswith("pie: no engine is running")) == (1, True)
    second = serving("--port", "0")
    second.ready()
    assert second.pie("run", "player", "--", "--do", "value", "--value", "again")[1] == "again\n"
    assert second.pie("logs", row["id"][:8])[1] == 'out\n{"a":1}\n{"done": true}\n'
    assert second.end(signal.SIGTERM) == 0


def test_a_busy_port_is_one_clear_line(serving):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        engine = serving("--port", port)
        out, err = engine.child.communicate()
    assert engine.child.returncode == 1
    assert out == ""
    message = f"port {port} on 127.0.0.1 is in use: another program or engine listens there"
    assert json.loads(err)["error"]["message"] == message


def test_one_engine_per_home(serving):
    serving("--port", "0").ready()
    second = serving("--port", "0")
    out, err = second.child.communicate()
    assert (second.child.returncode, out) == (1, "")
    assert "an engine already runs with it" in json.loads(err)["error"]["message"]


def test_a_misspelt_key_is_told_with_the_nearest(serving, tmp_path):
    config = tmp_path / "config.toml"
    config.write_text("[server]\nprot = 8081\n")
    engine = serving("--config", config)
    out, err = engine.child.communicate()
    assert (engine.child.returncode, out) == (1, "")
    assert "server.prot" in err
    assert "did you mean 'server.port'?" in err


def test_a_half_downloaded_model_is_one_clear_line(serving, tmp_path):
    half = tmp_path / "half"
    shutil.copytree(EMBEDDED / "pie-tiny", half)
    weights = half / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100_000])
    engine = serving("--port", "0", model=("--model", half))
    out, err = engine.child.communicate()
    assert (engine.child.returncode, out) == (1, "")
    error = json.loads(err)["error"]
    assert error["type"] == "ModelLoadError"
    assert "model.safetensors" in error["message"]
    assert not (engine.home / "run" / "engine.json").exists()


def test_a_start_that_takes_too_long_is_given_up(serving, tmp_path):
    config = tmp_path / "config.toml"
    config.write_text('[[model]]\nname = "m"\nhf_repo = "pie-tiny"\nengine.ready_timeout_s = 0.000001\n')
    engine = serving("--port", "0", "--config", config, model=())
    out, err = engine.child.communicate()
    assert (engine.child.returncode, out) == (1, "")
    assert "ready_timeout_s" in json.loads(err.splitlines()[-1])["error"]["hint"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--host", "0.0.0.0"), "refusing to listen on 0.0.0.0 without authentication"),
        (("--host", "0.0.0.0", "--no-auth"), "refusing to listen on 0.0.0.0 without authentication"),
        (("--port", "70000"), "70000"),
        (("--url", "ws://a"), "--url names a running engine"),
    ],
)
def test_what_cannot_be_served(serving, flags, message):
    engine = serving(*flags)
    out, err = engine.child.communicate()
    assert engine.child.returncode in (1, 2)
    assert out == ""
    assert message in json.loads(err)["error"]["message"]
