import os
import shutil
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete

from pie_mlx.cli.completion import VARIABLE
from pie_mlx.cli.main import pie as root
from tests.server.conftest import server
from tests.terminal import Terminal

__all__ = ["server"]

pytestmark = pytest.mark.timeout(30)


@pytest.fixture
def command(tmp_path):
    """A directory with a `pie` of this checkout."""
    file = tmp_path / "bin" / "pie"
    file.parent.mkdir()
    file.write_text(f'#!/bin/sh\nexec {sys.executable} -m pie_mlx "$@"\n')
    file.chmod(0o755)
    return file.parent


def words(shell, command, line):
    """What a shell is told when TAB is pressed at the end of `line`."""
    told = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1), VARIABLE: f"{shell}_complete"}
    environment = {**os.environ, **told, "PATH": f"{command}:{os.environ['PATH']}"}
    ended = subprocess.run(["pie"], env=environment, capture_output=True, text=True, check=False)
    assert ended.stderr == ""
    return ended.stdout


def offered(line):
    """What is offered at the end of a line, each with its type, without a shell."""
    *before, last = line.split(" ")[1:]
    return [(item.type, item.value) for item in ShellComplete(root, {}, "pie", VARIABLE).get_completions(before, last)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with programs in it."""
    for file in ("agent/main.py", "ask.py", "notes.txt"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("async def main(input): ...\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_programs_are_completed_by_name_and_those_that_are_here_by_path(pie, folder):
    assert pie("install", "ask.py").code == 0
    assert offered("pie run ") == [("plain", name) for name in ("agent/", "ask", "ask.py", "openai", "text-completion")]
    assert offered("pie show as") == [("plain", "ask")]


@pytest.mark.parametrize("word", ["./ag", "agent/", "no", "~/"])
def test_paths_are_left_to_the_shell(folder, word):
    assert offered(f"pie run {word}") == [("file", word)]


def test_models_are_completed_and_so_are_their_paths(home):
    assert offered("pie run --model pie") == [("plain", "pie-tiny")]
    assert offered("pie chat --model ./m") == [("file", "./m")]


def test_keys_of_the_configuration_are_completed():
    assert offered("pie config get server.po") == [("plain", "server.port")]


def test_clients_are_completed():
    assert offered("pie launch code") == [("plain", "codex")]


def test_processes_are_completed_where_an_engine_runs(server, monkeypatch, pie, tmp_path):
    monkeypatch.setenv("PIE_HOME", str(server.home))
    (tmp_path / "waits.py").write_text(
        "from inferlet import session\nasync def main(input):\n    await session.receive()"
    )
    process = pie("run", "-d", tmp_path / "waits.py").out.strip()
    try:
        assert ("plain", process) in offered("pie kill ")
        assert ("plain", process) in offered(f"pie logs {process[:5]}")
    finally:
        pie("kill", process)


def test_without_an_engine_there_is_no_process_and_no_error(capsys):
    assert offered("pie kill ") == []
    assert capsys.readouterr() == ("", "")


def test_verbs_are_completed(command):
    assert words("bash", command, "pie re").split() == ["plain,replay", "plain,remove"]


def test_flags_of_a_verb_are_completed(command):
    assert words("bash", command, "pie install --fo").split() == ["plain,--force"]


def test_zsh_is_told_what_a_verb_is_for(command):
    assert words("zsh", command, "pie ver").splitlines() == ["plain", "version", "Print versions."]


def test_verbs_of_a_verb_are_completed(command):
    assert words("bash", command, "pie config g").split() == ["plain,get"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script(pie, shell):
    ended = pie("completion", shell)
    assert ended.code == 0
    assert VARIABLE in ended.out


def test_another_shell_is_refused(pie):
    assert pie("completion", "tcsh").code == 2


SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source {script}"),
    "zsh": (["zsh", "-f", "-i"], "autoload -U compinit; compinit -u -D; source {script}"),
}


@pytest.mark.parametrize("shell", [name for name in SHELLS if name == "bash" or shutil.which(name)])
def test_a_shell_completes_a_verb(shell, command, pie, tmp_path):
    script = tmp_path / "script"
    script.write_text(pie("completion", shell).out)
    words, set_up = SHELLS[shell]
    own = {"PATH": f"{command}:{os.environ['PATH']}", "TERM": "dumb", "PS1": "> ", "HISTFILE": ""}
    with Terminal(words, **own) as terminal:
        terminal.type(f"{set_up.format(script=script)}\n" + "echo re''ady\n", until="ready\r\n")
        assert "pie version" in terminal.type("pie vers\t", until="version")  # 4.2
        assert "./examples/" in terminal.type("\x15pie run ./ex\t", until="./examples/")
