import os
import shutil
import subprocess
import sys

import pytest

from pie_mlx.cli.completion import VARIABLE
from tests.terminal import Terminal

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


def test_verbs_are_completed(command):
    assert words("bash", command, "pie re").split() == ["plain,remove"]


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
