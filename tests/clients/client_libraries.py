"""Client libraries, as they are published: each plays its task in a process with packages of its own."""

import subprocess
from pathlib import Path

import pytest

from tests.clients.conftest import INSTALLED
from tests.clients.scripted import MODEL

pytestmark = pytest.mark.timeout(120)
TASKS = sorted(Path(__file__).with_name("libraries").glob("*.py"))


@pytest.mark.parametrize("task", TASKS, ids=lambda path: path.stem.removeprefix("play_"))
def test_a_library_plays_its_task(task, url, counted, environment):
    words = [str(INSTALLED / "venv" / "bin" / "python"), str(task), url, MODEL]
    ran = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=100)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert counted().refused() == set()
    assert counted().statuses["200"]
