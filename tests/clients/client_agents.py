"""Coding agents, as they are published, started by `pie launch` where they have a command: each edits a file."""

import subprocess
import sys

import pytest

from tests.clients.conftest import INSTALLED
from tests.clients.scripted import MODEL
from tests.clients.tasks import AFTER, AGENTS, BEFORE, DONE

pytestmark = pytest.mark.timeout(300)
REUSED_TOKENS = 2000
"""Fewer than any of them sends before the conversation."""


def words(name, url):
    agent = AGENTS[name]
    if agent.program is None:
        return [sys.executable, "-m", "pie_mlx", "launch", name, "--url", url, "--", *agent.arguments]
    python = INSTALLED / name / "bin" / "python"
    if subprocess.run([python, "-c", "import sys; sys.exit(sys.version_info < (3, 12))"]).returncode:
        pytest.skip(f"{name} needs Python 3.12")
    return [python, agent.program, url, MODEL, *agent.arguments]


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_edits_a_file(name, url, script, counted, environment, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    script.note = folder / "note.txt"
    script.note.write_text(BEFORE)
    ran = subprocess.run(
        words(name, url),
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
    )
    assert script.note.read_text() == AFTER, ran.stdout
    assert DONE in ran.stdout
    assert ran.returncode == 0
    if AGENTS[name].takes_turns:
        assert counted().cached_tokens > REUSED_TOKENS, "the second turn found nothing of the first"
    assert counted().refused() == set()
