"""Directories of dead engines are removed, those of living ones are not."""

import os
import subprocess
import sys

import pytest

from pie_mlx.runtime.worker.workspaces import TemporaryRoot, sweep
from tests.runtime.worker.conftest import bounded_engine


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Where temporary files lie."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


KILLED = """
import os, signal
from pie_mlx.runtime.worker.workspaces import TemporaryRoot
(TemporaryRoot().new_directory() / "file").write_text("left")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def leftover(place):
    """What an engine that was killed has left."""
    subprocess.run([sys.executable, "-c", KILLED])
    (found,) = place.iterdir()
    return found


def test_what_a_killed_engine_left_is_removed(place, leftover):
    sweep(place)
    assert not leftover.exists()


async def test_an_engine_sweeps_when_it_starts(place, leftover, program):
    path = program("async def main(input):\n    return 'well'\n")
    async with bounded_engine() as engine:
        assert await engine.run(path) == "well"
    assert list(place.iterdir()) == [path]


def test_directories_of_living_engines_stay(place):
    root = TemporaryRoot()
    directory = root.new_directory()
    sweep(place)
    assert directory.is_dir()
    root.remove()
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("strange", ["readable by others", "a link", "a file"])
def test_what_is_no_private_directory_stays(place, strange):
    path = place / "pie-programs-1"
    target = place / "target"
    target.mkdir(mode=0o700)
    match strange:
        case "readable by others":
            path.mkdir(mode=0o755)
        case "a link":
            path.symlink_to(target)
        case "a file":
            path.touch()
    sweep(place)
    assert os.path.lexists(path)
    assert target.is_dir()


def test_directories_of_other_users_stay(place, leftover, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    sweep(place)
    assert leftover.exists()


def test_a_directory_that_was_cleared_away_is_made_anew_and_locked(place):
    root = TemporaryRoot()
    root.path.rmdir()
    directory = root.new_directory()
    sweep(place)
    assert directory.is_dir()
    root.remove()


def test_without_locks_nothing_is_swept(place, monkeypatch):
    def refuse(descriptor, operation):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", refuse)
    root = TemporaryRoot()
    sweep(place)
    assert root.path.is_dir()
    root.remove()
