"""`pie top` from outside."""

import json
import sys

import pytest

from pie_mlx.cli.main import execute
from pie_mlx.cli.options import Common
from pie_mlx.cli.top.engines import ENGINES_FILE, live_tabs
from pie_mlx.cli.top.monitor import PLUGINS_FILE
from pie_mlx.event_log import HEADER
from tests.terminal import Terminal
from tests.tui.harness import RECORDING
from tools.monitor.record import TOTAL_PAGES


def top(capsys, *arguments):
    code = execute(["top", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_state_at_the_end_of_a_recording_is_printed_as_json(capsys):
    code, out, _ = top(capsys, "--replay", str(RECORDING), "--json")
    state = json.loads(out)
    assert (code, state["model"], state["policy"], state["pages"]["total"]) == (0, "pie-tiny", "market", TOTAL_PAGES)
    assert state["machine"] is None  # a recording does not tell of it
    assert {"id", "program", "status", "reason", "own", "shared", "balance", "bid"} <= set(state["programs"][0])


def test_the_demo_prints_a_state_too(capsys):
    code, out, _ = top(capsys, "--demo", "--json")
    state = json.loads(out)
    assert (code, len(state["programs"]) > 10) == (0, True)
    assert (state["machine"]["pressure"], state["machine"]["gpu"]["watts"]) == ("normal", 21.4)


@pytest.mark.parametrize(
    ("content", "problem"), [(b"PNG", "not an event log"), (HEADER, "holds no events"), (None, "No such file")]
)
def test_what_is_no_recording_is_refused_in_one_line(capsys, tmp_path, content, problem):
    file = tmp_path / "x.events"
    if content is not None:
        file.write_bytes(content)
    code, out, err = top(capsys, "--replay", str(file))
    assert (code in (1, 2), out) == (True, "")
    assert problem in err.splitlines()[0]


def test_demo_and_replay_exclude_each_other(capsys):
    code, _, err = top(capsys, "--demo", "--replay", str(RECORDING))
    assert (code, "exclude each other" in err) == (2, True)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (("ws://a", "--demo"), "engines exclude --demo"),
        (("ws://a", "--url", "ws://b"), "engines exclude"),
        (("ws://a", "ws://b", "--json"), "about one engine"),
        (
            ("studi", "--json"),
            "studi: it is no address, such as ws://127.0.0.1:8080, and no configured engine; known: studio",
        ),
    ],
)
def test_engines_that_make_no_sense_are_refused(capsys, tmp_path, monkeypatch, given, problem):
    monkeypatch.setenv("PIE_HOME", str(tmp_path))
    (tmp_path / ENGINES_FILE).write_text('studio = "ws://127.0.0.1:1"\n')
    code, _, err = top(capsys, *given)
    assert (code, problem in err) == (2, True)


def test_engines_are_given_configured_or_those_of_this_machine(tmp_path, monkeypatch):
    monkeypatch.delenv("PIE_URL", raising=False)
    (tmp_path / ENGINES_FILE).write_text('studio = "ws://studio:1"\nattic = "attic"\n')

    def shown(*given, **more):
        tabs, problems = live_tabs(given, Common(**more), tmp_path)
        assert [problem.partition(": ")[2][:24] for problem in problems] == ["attic: write an address,"]
        return [(tab.source.label, tab.url) for tab in tabs]

    assert shown() == [("this machine", ""), ("studio", "ws://studio:1")]
    assert shown("studio", "ws://b") == [("studio", "ws://studio:1"), ("ws://b", "ws://b")]
    assert shown(url="ws://c") == [("ws://c", "ws://c")]
    monkeypatch.setenv("PIE_URL", "ws://d")
    assert shown() == [("ws://d", "ws://d")]
    assert live_tabs((), Common(), tmp_path / "other")[1] == ()


def test_an_engine_that_is_given_by_name_is_asked(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("PIE_HOME", str(tmp_path))
    (tmp_path / ENGINES_FILE).write_text('studio = "ws://127.0.0.1:1"\n')
    code, _, err = top(capsys, "studio", "--json")
    assert (code, "127.0.0.1:1" in err) == (1, True)


def test_in_a_terminal_a_command_of_the_users_own_has_the_terminal_and_gives_it_back(tmp_path):
    (tmp_path / PLUGINS_FILE).write_text('[hail]\nkey = "W"\nshell = "echo hail"\n')
    command = [sys.executable, "-m", "pie_mlx", "top", "--replay", str(RECORDING)]
    with Terminal(command, PIE_HOME=str(tmp_path)) as terminal:
        terminal.read("contention.events")
        terminal.type("W", until="enter goes back")
        terminal.type("\r", until="Programs")
        terminal.type("q", until="\x1b[?1049l")
        assert terminal.wait() == 0


def test_without_a_terminal_it_says_what_to_do(capsys):
    code, _, err = top(capsys, "--demo")
    assert (code, "--json" in err) == (2, True)


def test_json_without_an_engine_says_so(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("PIE_HOME", str(tmp_path))
    monkeypatch.delenv("PIE_URL", raising=False)
    code, _, err = top(capsys, "--json")
    assert (code, "no engine is running" in err) == (1, True)


@pytest.mark.parametrize(("condition", "code", "told"), [("failed >= 1", 0, "failed >= 1: 1"), ("price > 99", 1, "")])
def test_until_ends_with_the_value_or_at_the_end_of_a_recording(capsys, condition, code, told):
    found, out, err = top(capsys, "--replay", str(RECORDING), "--until", condition)
    assert (found, out.strip()) == (code, told), err


def test_until_refuses_what_is_no_condition(capsys):
    code, _, err = top(capsys, "--demo", "--until", "gold > 1")
    assert (code, "condition 'gold > 1'" in err) == (1, True)


def test_in_a_terminal_it_draws_takes_keys_and_leaves(tmp_path):
    command = [sys.executable, "-m", "pie_mlx", "top", "--replay", str(RECORDING)]
    with Terminal(command, PIE_HOME=str(tmp_path)) as terminal:
        terminal.read("contention.events")
        terminal.type("4", until="Order book")
        terminal.type("q", until="\x1b[?1049l")
        assert terminal.wait() == 0
