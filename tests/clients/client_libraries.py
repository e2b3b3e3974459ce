"""Client libraries, as they are published: each plays its task in a process with packages of its own."""

import subprocess
from pathlib import Path

import pytest

from tests.clients.conftest import INSTALLED
from tests.clients.scripted import MODEL

pytestmark = pytest.mark.timeout(120)
TASKS = sorted(Path(__file__).with_name("libraries").glob("play_*"))


def name_of(task):
    return task.stem.removeprefix("play_")


def words(task):
    """The command that plays a task. Modules of Node find their packages from the directory they run in."""
    if task.suffix == ".mjs":
        return ["node", "--input-type=module", "-"]
    own = Path(__file__).with_name("requirements") / f"{name_of(task)}.txt"
    return [INSTALLED / (own.stem if own.exists() else "libraries") / "bin" / "python", task]


@pytest.mark.parametrize("task", TASKS, ids=name_of)
def test_a_library_plays_its_task(task, url, counted, environment):
    with task.open() as text:
        ran = subprocess.run(
            [*words(task), url, MODEL],
            cwd=INSTALLED,
            env=environment,
            stdin=text,
            capture_output=True,
            text=True,
            timeout=100,
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert counted().refused() == set()
    assert counted().statuses["200"]
