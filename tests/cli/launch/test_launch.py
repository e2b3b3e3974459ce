"""What clients get from `pie launch`, with stand-ins for the clients and a real engine."""

import json
import os
import re
import signal
import subprocess
import sys
import tomllib

import pytest

from pie_mlx.cli.launch.clients import CLIENTS, Target
from pie_mlx.client.discovery import is_home_in_use
from pie_mlx.server import ServerSettings
from tests.server.conftest import server
from tests.server.running import RunningServer

__all__ = ["server"]

pytestmark = pytest.mark.timeout(60)
REPORTER = f"""#!{sys.executable}
import json, os, sys
json.dump([sys.argv[1:], dict(os.environ)], open(os.environ["REPORT"], "w"))
"""
PASSED_ON = f"""#!{sys.executable}
import os, signal, sys
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(55))
os.kill(os.getppid(), signal.SIGTERM)
signal.pause()
"""
INTERRUPTED = f"""#!{sys.executable}
import json, os, signal, sys
signal.signal(signal.SIGINT, lambda number, frame: sys.exit(42))
record = json.load(open(os.path.join(os.environ["PIE_HOME"], "run", "engine.json")))
print(record["pid"], os.environ["ANTHROPIC_BASE_URL"], flush=True)
signal.pause()
"""


@pytest.fixture
def served(server, monkeypatch):
    monkeypatch.setenv("PIE_HOME", str(server.home))
    return server


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a stand-in for a client, and returns a function that reads what it was given."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("REPORT", str(tmp_path / "report.json"))

    def write(command, source=REPORTER):
        path = tmp_path / command
        path.write_text(source)
        path.chmod(0o755)
        return lambda: json.loads((tmp_path / "report.json").read_text())

    return write


def target(directory):
    return Target("http://127.0.0.1:8080", "m", 4096, "key", directory)


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_that_is_not_installed_is_said_how_to_be(pie, served, install, name):
    ended = pie("launch", name)
    assert ended.code == 1
    assert f"try: {CLIENTS[name].install}" in ended.err


@pytest.mark.parametrize("name", CLIENTS)
def test_each_client_gets_the_address_of_the_engine(pie, served, install, name):
    reported = install(CLIENTS[name].command)
    assert pie("launch", name).code == 0
    given = [str(reported()), *(file.read_text() for file in (served.home / "clients" / name).glob("*.json"))]
    assert any(served.http in one for one in given)
    assert any("dummy" in one for one in given)


@pytest.mark.parametrize("name", CLIENTS)
def test_what_a_client_is_given_is_printed(pie, served, install, name):
    install(CLIENTS[name].command)
    said = pie("launch", name).err
    for variable, value in CLIENTS[name].setup(target(served.home)).environment.items():
        assert f"pie: {variable}=" in said
        assert value is not None
    assert pie("launch", name, "--quiet").err == ""


@pytest.mark.parametrize("name", CLIENTS)
def test_files_are_written_into_our_own_directory_alone(pie, served, install, tmp_path, monkeypatch, name):
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    install(CLIENTS[name].command)
    assert pie("launch", name).code == 0
    assert list((tmp_path / "user").iterdir()) == []
    assert (served.home / "clients" / name).stat().st_mode & 0o777 == 0o700


def test_arguments_reach_the_client_as_they_are(pie, served, install):
    reported = install("claude")
    pie("launch", "claude", "--", "-p", "--model", "other", "two words")
    assert reported()[0] == ["-p", "--model", "other", "two words"]


@pytest.mark.parametrize(("source", "status"), [("exit 7", 7), ("kill -9 $$", 137)])
def test_the_status_of_the_client_is_passed_on(pie, served, install, source, status):
    install("codex", f"#!/bin/sh\n{source}\n")
    assert pie("launch", "codex").code == status


def test_codex_reads_its_provider_from_its_arguments(tmp_path):
    words = CLIENTS["codex"].setup(target(tmp_path)).arguments
    settings = tomllib.loads("\n".join(words[1::2]))
    assert set(words[::2]) == {"-c"}
    provider = settings["model_providers"][settings["model_provider"]]
    assert (provider["base_url"], provider["wire_api"]) == ("http://127.0.0.1:8080/v1", "responses")
    assert CLIENTS["codex"].setup(target(tmp_path)).environment[provider["env_key"]] == "key"


def test_opencode_reads_its_model_from_its_configuration(tmp_path):
    content = json.loads(CLIENTS["opencode"].setup(target(tmp_path)).environment["OPENCODE_CONFIG_CONTENT"])
    provider, _, model = content["model"].partition("/")
    assert content["provider"][provider]["models"][model]["limit"] == {"context": 4096, "output": 1024}


def test_the_variables_for_an_unknown_client_are_those_of_a_shell(pie, served):
    printed = pie("launch", "shell").out
    ran = subprocess.run(
        ["sh", "-c", f"{printed}\necho $OPENAI_BASE_URL $ANTHROPIC_MODEL"], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == [f"{served.http}/v1", "dummy"]


def test_an_unknown_client_starts_no_engine(pie, home):
    ended = pie("launch", "shell")
    assert (ended.code, "none of claude, codex" in ended.err) == (1, True)
    assert not is_home_in_use(home)


def test_another_model_than_the_one_that_is_served_is_refused(pie, served, install):
    install("claude")
    ended = pie("launch", "claude", "--model", "other")
    assert (ended.code, "serves dummy" in ended.err) == (1, True)


def test_a_token_is_wanted_with_authentication_and_not_printed(pie, install, tmp_path, monkeypatch):
    running = RunningServer(tmp_path / "home", ServerSettings(port=0, authentication=True)).start()
    try:
        monkeypatch.setenv("PIE_HOME", str(running.home))
        reported = install("claude")
        assert "set PIE_TOKEN" in pie("launch", "claude").err
        monkeypatch.setenv("PIE_TOKEN", running.server.token)
        ended = pie("launch", "claude")
        assert (ended.code, running.server.token in ended.err) == (0, False)
        assert reported()[1]["ANTHROPIC_AUTH_TOKEN"] == running.server.token
    finally:
        running.stop()


def test_an_engine_that_cannot_start_says_why(pie, install, monkeypatch):
    install("claude")
    failing = ["/bin/sh", "-c", "printf 'pie: port 1: not permitted\\n     try: another\\n' >&2; exit 1"]
    monkeypatch.setattr("pie_mlx.cli.engine.spawning.engine_command", lambda words, common: failing)
    ended = pie("launch", "claude")
    said = "pie: the engine did not start: port 1: not permitted\n     try: another\n"
    assert (ended.code, ended.err) == (1, said)


def test_a_signal_is_passed_on_to_the_client(pie, served, install):
    install("claude", PASSED_ON)
    assert pie("launch", "claude").code == 55


def test_an_engine_that_is_started_outlives_ctrl_c_until_the_client_has_ended(home, install):
    install("claude", INTERRUPTED)
    environment = {**os.environ, "PIE_MODEL__0__ENGINE__TYPE": "dummy", "PYTHONPATH": os.getcwd()}
    words = [sys.executable, "-m", "pie_mlx", "launch", "claude", "--quiet"]
    with subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as launched:
        engine, url = launched.stdout.readline().split()
        assert is_home_in_use(home)
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", url)
        os.killpg(launched.pid, signal.SIGINT)  # as a terminal does
        assert launched.wait() == 42
    assert not is_home_in_use(home)
    with pytest.raises(ProcessLookupError):
        os.kill(int(engine), 0)
