"""Disks without room."""

import json
import signal

import pytest

from tests.full_disk import fill, names, small_disk
from tests.serving import Serving

__all__ = ["small_disk"]

FULL = "No space left on device"


@pytest.fixture
def home(small_disk):
    """A home on a full disk, with a configuration that was written before."""
    home = small_disk / "home"
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text("[server]\nport = 0\n")
    fill(small_disk)
    return home


@pytest.mark.parametrize(
    "words",
    [
        ("config", "set", "server.host", "::1"),
        ("config", "init", "--force"),
        ("install", "PROGRAM"),
        ("build", "PROGRAM", "-o", "HOME/program.pie"),
        ("new", "one", "-o", "HOME/one"),
        ("client", "config", "init", "--path", "HOME/cli.toml"),
    ],
    ids=lambda words: words[0],
)
def test_a_full_disk_is_told_in_a_line_and_leaves_nothing_half_written(target, home, tmp_path, words, monkeypatch):
    program = tmp_path / "program.py"
    program.write_text("async def main(input):\n    return 1\n")
    before = names(home)
    monkeypatch.setitem(target.environment, "PIE_HOME", str(home))
    code, _, err = target.pie(*[word.replace("PROGRAM", str(program)).replace("HOME", str(home)) for word in words])
    assert (code, FULL in err, "make room on that disk" in err) == (1, True, True), err
    assert (names(home), (home / "config.toml").read_text()) == (before, "[server]\nport = 0\n")


def test_an_engine_says_that_its_disk_is_full_and_leaves_nothing(home):
    before = names(home)
    serving = Serving(home)
    _, err = serving.child.communicate()
    assert (serving.child.returncode, FULL in err, names(home)) == (1, True, before), err


def test_an_engine_outlives_its_recording_and_its_logs(small_disk, make_target):
    recording = small_disk / "events"
    target = make_target("--record", recording)
    fill(small_disk)
    program = small_disk.parent / "program.py"
    program.write_text("async def main(input):\n    return 'ran'\n")
    with target.stays_healthy():
        for _ in range(2):
            code, out, err = target.pie("run", program, "--files", small_disk, "--input", json.dumps({}))
            assert (code, out) == (0, "ran\n"), err
    assert target.end(signal.SIGTERM) == 0
    assert f"{recording}: {FULL}: the recording ends here" in target.child.stderr.read()
