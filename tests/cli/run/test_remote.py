"""`pie run` on an engine that runs already."""

import json
import os
import pty
import re
import sys
from pathlib import Path

import pytest

from pie_mlx.client import connect
from pie_mlx.errors import LaunchError
from tests.cli.pipes import after_its_first_line
from tests.runtime.mcp.servers import small_server
from tests.server.conftest import server

__all__ = ["server"]

pytestmark = pytest.mark.timeout(60)
EXAMPLES = Path(__file__).parents[3] / "examples"

LISTENER = """
from inferlet import errors, session

async def main(input):
    heard = []
    try:
        while True:
            heard.append(await session.receive())
    except errors.SessionClosedError:
        return heard
"""


@pytest.fixture(autouse=True)
def home(server, monkeypatch):
    """The home of the engine that runs."""
    monkeypatch.setenv("PIE_HOME", str(server.home))
    return server.home


@pytest.fixture
def write(tmp_path):
    """Writes a program and answers where."""

    def write(source, name="agent.py", folder="one"):
        path = tmp_path / folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
        return path

    return write


def says(value):
    return f"async def main(input):\n    return {value!r}\n"


def test_a_program_that_is_left_running_has_an_id_and_a_log(pie, write):
    process = pie("run", "-d", write("async def main(input):\n    print('heard')\n    return 7\n")).out.strip()
    assert pie("logs", "-f", process).out == "heard\n7\n"
    assert json.loads(pie("run", "-d", "--json", write(says("once more"))).out).keys() == {"process"}


def test_a_program_is_left_on_a_running_engine_only(pie, write, monkeypatch, tmp_path):
    monkeypatch.setenv("PIE_HOME", str(tmp_path))
    ended = pie("run", "-d", write(says("here")))
    assert (ended.code, ended.err.splitlines()[-1]) == (1, "     try: start one: pie serve -d")


def test_a_program_uses_the_servers_of_a_file_beside_the_command(pie, write, tmp_path):
    small = small_server(tmp_path)
    servers = {"mine": {"command": small.command, "args": list(small.args)}, "far": {"url": "https://x.y"}}
    calls = "from inferlet import mcp\nasync def main(input):\n    return sorted(mcp.available_servers())\n"
    (tmp_path / "one.json").write_text(json.dumps({"mcpServers": {"mine": servers["mine"]}}))
    assert '"mine"' in pie("run", "--mcp", tmp_path / "one.json", write(calls)).out
    (tmp_path / "two.json").write_text(json.dumps({"mcpServers": servers}))
    ended = pie("run", "--mcp", tmp_path / "two.json", write(calls))
    assert (ended.code, "give --one-shot" in ended.err) == (1, True)


def test_a_path_is_run_without_being_installed(pie, write):
    installed = pie("list", "--json").out
    assert pie("run", write(says("here"))).out == "here\n"
    assert pie("list", "--json").out == installed


def test_a_question_that_is_too_long_is_told_without_the_lines_of_our_program(pie):
    ended = pie("chat", "word " * 9000)
    assert ended.code == 1
    assert re.fullmatch(r"pie: program 'chat@[^\n]+\n     try: [^\n]+\n", ended.err)
    assert "Traceback" in pie("chat", "--debug", "word " * 9000).err


def test_limits_of_time_and_of_tokens_hold_there(pie, write):
    late = pie(
        "run", "--timeout", "0.05", write("import asyncio\nasync def main(input):\n    await asyncio.Event().wait()\n")
    )
    assert (late.code, "still running after 0.05 s" in late.err) == (1, True)
    dear = pie("run", "--token-budget", "4", EXAMPLES / "hello")
    assert (dear.code, "TokenBudgetError" in dear.err) == (1, True)


def test_what_cannot_run_is_named_as_it_was_typed(pie, write):
    path = write("", name="other.py")
    assert pie("run", path).err.startswith(f"pie: {path}: no 'async def main(input)'\n")


@pytest.mark.parametrize("folder", ["one", "two words"])
def test_a_traceback_names_the_files_that_were_run(pie, write, folder):
    main = write("import helper\nasync def main(input):\n    helper.fail()\n", name="main.py", folder=folder)
    helper = write("def fail():\n    raise ValueError(__file__)\n", name="helper.py", folder=folder)
    ended = pie("run", main.parent)
    assert f'File "{main}", line 3, in main\n' in ended.err
    assert f'File "{helper}", line 2, in fail\n' in ended.err
    assert ended.err.endswith(f"ValueError: {helper}\n")


def test_a_traceback_names_the_file_that_was_run(pie, write):
    path = write("async def main(input):\n    raise ValueError\n", name="other.py")
    assert f'File "{path}", line 2, in main\n' in pie("run", path).err


def test_an_error_at_the_entry_names_the_file_that_was_run(pie, write):
    path = write("async def main(): ...\n", name="other.py")
    assert f"{path}: main does not take one argument\n" in pie("run", path).err


def test_what_is_run_replaces_nothing_that_is_installed(pie, write):
    pie("install", write(says("installed")))
    assert pie("run", write(says("mine"))).out == "mine\n"
    assert pie("run", "agent").out == "installed\n"
    pie("remove", "-y", "agent")


def test_programs_of_one_name_are_those_of_their_clients(server):
    async def launched():
        clients = [await connect(server.url) for _ in "ab"]
        for name, client in zip("ab", clients, strict=True):
            await client.install(says(name).encode(), MANIFEST, keep=False)
        values = [await (await client.launch("same@1.0.0")).result() for client in clients]
        stranger = await connect(server.url)
        with pytest.raises(LaunchError, match="not installed"):
            await stranger.launch("same@1.0.0")
        for client in (*clients, stranger):
            await client.close()
        return values

    assert server.call(launched()) == ["a", "b"]


def test_a_program_can_launch_itself_by_its_name(pie, write):
    source = (
        "from inferlet import runtime\n"
        "async def main(input):\n"
        "    return 'child' if input else await runtime.launch('agent', {'child': True}).result()\n"
    )
    assert pie("run", write(source)).out == "child\n"


def test_a_program_that_waits_for_its_client_hears_that_nothing_comes(pie, write):
    assert pie("run", write(LISTENER)).out == "[]\n"


def test_a_reader_who_goes_away_ends_the_program_without_a_word(pie, write):
    source = """
import asyncio
from inferlet import session

async def main(input):
    while True:
        session.send("line\\n")
        await asyncio.sleep(0.01)
"""
    assert after_its_first_line("run", write(source)) == ""
    assert pie("ps", "--json").out == "[]\n"


def test_what_is_piped_in_stays_for_the_loop_it_may_belong_to(pie, write, monkeypatch):
    reading, writing = os.pipe()
    os.write(writing, b"one\ntwo\n")
    os.close(writing)
    with open(reading) as pipe:
        monkeypatch.setattr(sys, "stdin", pipe)
        assert pie("run", write(LISTENER)).out == "[]\n"
        assert pipe.read() == "one\ntwo\n"


def test_a_program_that_expects_what_is_piped_in_fails_with_a_hint(pie, write):
    ended = pie("run", write("from inferlet import session\nasync def main(input):\n    await session.receive()\n"))
    assert ended.code == 1
    assert ended.err.endswith("nothing that is piped into it is sent\n")


def test_what_is_typed_at_a_terminal_is_sent(pie, write, monkeypatch):
    ours, theirs = pty.openpty()
    with open(theirs) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        monkeypatch.setattr(os, "tcgetpgrp", lambda descriptor: os.getpgrp())
        os.write(ours, b"one\ntwo\n\x04")
        assert pie("run", write(LISTENER)).out == '["one", "two"]\n'
    os.close(ours)


def test_a_failure_says_what_to_do(pie, write):
    ended = pie("run", write("from inferlet import Model\nasync def main(input):\n    Model.load('typo')\n"))
    assert ended.code == 1
    assert "     try: loaded models:" in ended.err


def test_a_configuration_is_for_an_engine_of_its_own(pie, write, tmp_path, server):
    path = tmp_path / "config.toml"
    path.write_text('[[model]]\nname = "mine"\nhf_repo = "nobody/nothing"\n[model.engine]\ntype = "dummy"\n')
    source = "from inferlet import runtime\nasync def main(input):\n    return runtime.models()\n"
    assert pie("run", "-c", path, write(source)).out == '["mine"]\n'
    assert pie("run", "-c", path, "--url", server.url, write(source)).code == 2


MANIFEST = """
[package]
name = "same"
version = "1.0.0"
"""
