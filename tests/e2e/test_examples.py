"""The examples, run as a person runs them."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PIE = [sys.executable, "-m", "pie_mlx"]

pytestmark = pytest.mark.timeout(180)


def pie(*words, home):
    environment = {**os.environ, "PIE_HOME": str(home)}
    return subprocess.run([*PIE, *map(str, words)], capture_output=True, text=True, env=environment, check=False)


def test_hello_streams_an_answer(tmp_path):
    ended = pie("run", EXAMPLES / "hello", "--", "--prompt", "Who are you?", home=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "pie-tiny" in ended.stdout


def test_fork_and_tool_forks_streams_calls_a_tool_and_counts_pages(tmp_path):
    ended = pie("run", EXAMPLES / "fork-and-tool", home=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "[get_weather " in ended.stdout
    kept, alone = map(int, re.search(r"(\d+) pages hold what would take (\d+)", ended.stdout).groups())
    assert kept < alone


def test_swarm_hands_every_question_to_one_worker(tmp_path):
    ended = pie("run", EXAMPLES / "swarm", "--", "--workers", "3", home=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.endswith("4 answers by 3 workers\n")
    assert ended.stdout.count("Who are you?") == 1


def test_ctrl_c_ends_the_program_cleanly_with_130(tmp_path):
    (tmp_path / "a.py").write_text(
        "import asyncio\nasync def main(input):\n    try:\n        print('ready', flush=True)\n"
        "        await asyncio.Event().wait()\n    finally:\n        print('cleaned up', flush=True)\n"
    )
    command = [*PIE, "run", "--dummy", str(tmp_path / "a.py")]
    environment = {**os.environ, "PIE_HOME": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as child:
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert (child.returncode, out, err) == (130, "cleaned up\n", "")
