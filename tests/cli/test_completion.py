import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pie_mlx.cli.completion import VARIABLE


@pytest.fixture
def command(tmp_path):
    """A directory with a `pie` of this checkout."""
    file = tmp_path / "bin" / "pie"
    file.parent.mkdir()
    file.write_text(f'#!/bin/sh\nexec {sys.executable} -m pie_mlx.cli "$@"\n')
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


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_bash_completes_with_the_script(command, pie, tmp_path):
    script = Path(tmp_path / "pie.sh")
    script.write_text(pie("completion", "bash").out)
    asking = f"""
    source {script}
    COMP_WORDS=(pie sh); COMP_CWORD=1
    $(complete -p pie | sed 's/.*-F \\([^ ]*\\) .*/\\1/') pie sh pie
    echo "${{COMPREPLY[@]}}"
    """
    environment = {**os.environ, "PATH": f"{command}:{os.environ['PATH']}"}
    ended = subprocess.run(["bash", "-c", asking], env=environment, capture_output=True, text=True, check=False)
    assert (ended.stdout.strip(), ended.stderr) == ("show", "")


@pytest.mark.skipif(not shutil.which("zsh"), reason="there is no zsh")
def test_zsh_reads_the_script(command, pie, tmp_path):
    script = Path(tmp_path / "pie.zsh")
    script.write_text(pie("completion", "zsh").out)
    asking = f"autoload -U compinit; compinit -u; source {script}; print -r -- $_comps[pie]"
    ended = subprocess.run(["zsh", "-fc", asking], capture_output=True, text=True, check=False)
    assert ended.stdout.strip() == "_pie_completion"
