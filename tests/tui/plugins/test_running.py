"""A command gets the fields of a row, and no text of a row becomes a command."""

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.tui.plugins.plugin import Plugin
from pie_mlx.tui.plugins.running import (
    environment_of,
    field_name,
    run_in_background,
    run_in_foreground,
    words_of,
)

HOSTILE = "x'; touch /tmp/gone $(id) `id` \"\n* | & > {id}"


def test_a_field_stays_within_its_word_whatever_it_contains():
    plugin = Plugin("T", ("echo", "a {program} b", "{{id}}", "{id}"))
    words = words_of(plugin, {"id": "7", "program": HOSTILE})
    assert words == ["echo", f"a {HOSTILE} b", "{id}", "7"]


def test_a_shell_finds_fields_in_its_environment():
    environment = environment_of({"id": "7", "program": HOSTILE}, "ws://x", {"PATH": os.environ["PATH"]})
    words = words_of(Plugin("T", shell='printf %s "$ROW_PROGRAM"'), {"id": "7"})
    told = subprocess.run(words, env=environment, capture_output=True, check=True).stdout
    assert told.decode() == HOSTILE
    assert (environment["ROW_ID"], environment["PIE_URL"]) == ("7", "ws://x")


def test_an_engine_without_an_address_is_found_as_pie_finds_it():
    assert environment_of({}, "", {"A": "b"}) == {"A": "b"}


@pytest.mark.parametrize(("title", "name"), [("max tokens", "max_tokens"), ("tok/s", "tok_s"), ("id", "id")])
def test_a_column_is_a_field(title, name):
    assert field_name(title) == name


@pytest.mark.parametrize(
    ("command", "fields", "problem"),
    [
        (("ls", "{id}"), {}, "no row is selected"),
        (("ls", "{colour}"), {"id": "7", "user": "ada"}, "the row has no 'colour'"),
        (("ls", "{user}"), {"user": "--delete"}, "'user' begins with '-'"),
    ],
)
def test_a_row_that_does_not_fit_the_command_is_refused(command, fields, problem):
    with pytest.raises(InvalidArgumentError, match=problem):
        words_of(Plugin("T", command, name="tail"), fields)


def test_a_value_with_a_dash_may_follow_a_text_and_a_command_without_fields_needs_no_row():
    assert words_of(Plugin("T", ("ls", "--name={user}")), {"user": "--x"}) == ["ls", "--name=--x"]
    assert words_of(Plugin("T", ("ls",)), {}) == ["ls"]
    with pytest.raises(InvalidArgumentError, match="no row"):
        words_of(Plugin("T", shell="echo $ROW_ID", name="t"), {})


@pytest.mark.parametrize(
    ("line", "problem"),
    [("true", ""), ("exit 3", "ended with 3"), ("echo one; echo two >&2; exit 1", "ended with 1: two")],
)
async def test_a_background_command_tells_its_failure_alone(line, problem):
    assert await run_in_background(["sh", "-c", line], os.environ) == problem


async def test_a_background_command_ends_with_the_monitor(tmp_path):
    file = tmp_path / "pid"
    line = f"echo $$ > {file}.new; mv {file}.new {file}; exec sleep 1000"
    running = asyncio.create_task(run_in_background(["sh", "-c", line], os.environ))
    while not file.exists():  # noqa: ASYNC110 - a file has no event
        await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    with pytest.raises(ProcessLookupError):
        os.kill(int(file.read_text()), 0)


def test_ctrl_c_in_the_foreground_is_for_the_command_alone(capfd):
    asked = []
    child = "import os, signal; os.kill(os.getppid(), signal.SIGINT); os.kill(os.getpid(), signal.SIGINT)"
    before = signal.getsignal(signal.SIGINT)
    run_in_foreground([sys.executable, "-I", "-S", "-c", child], os.environ, asked.append)
    assert signal.getsignal(signal.SIGINT) is before
    assert asked == ["\n[ended with -2; enter goes back to the monitor] "]
    assert "KeyboardInterrupt" in capfd.readouterr().err


def test_what_cannot_be_run_is_an_error_and_a_closed_input_is_none():
    def closed(prompt):
        raise EOFError

    run_in_foreground(["true"], os.environ, closed)
    with pytest.raises(OSError, match="/nowhere"):
        run_in_foreground(["/nowhere"], os.environ, closed)
