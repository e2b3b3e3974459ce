"""Coding agents, as they are published, each started by `pie launch`: a file is read and edited."""

import subprocess
import sys

import pytest

from tests.clients.tasks import AFTER, AGENTS, BEFORE, DONE

pytestmark = pytest.mark.timeout(300)
REUSED_TOKENS = 2000
"""Fewer than any of them sends before the conversation."""


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_edits_a_file(name, url, script, counted, environment, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    script.note = folder / "note.txt"
    script.note.write_text(BEFORE)
    words = [sys.executable, "-m", "pie_mlx", "launch", name, "--url", url, "--", *AGENTS[name].arguments]
    ran = subprocess.run(
        words,
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
