"""`pie top` from outside."""

import json
import sys

import pytest

from pie_mlx.cli.main import execute
from pie_mlx.event_log import HEADER
from tests.terminal import Terminal
from tests.tui.harness import RECORDING


def top(capsys, *arguments):
    code = execute(["top", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_state_at_the_end_of_a_recording_is_printed_as_json(capsys):
    code, out, _ = top(capsys, "--replay", str(RECORDING), "--json")
    state = json.loads(out)
    assert (code, state["model"], state["policy"], state["pages"]["total"]) == (0, "pie-tiny", "market", 44)
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
