"""Looks at the files of running programs, with a clock and a disk of the test's own."""

import os
from types import SimpleNamespace

import pytest

from pie_mlx.runtime.file_tree import Usage
from pie_mlx.runtime.worker.watch import scratch
from pie_mlx.runtime.worker.watch.scratch import LOOK_SECONDS, LOOKS, ScratchWatch

LIMIT_BYTES = 1 << 20
FALL_BYTES = 64 << 20


class Disk:
    """A clock, the free space, and what looks at directories found."""

    def __init__(self, monkeypatch):
        self.seconds, self.free_bytes, self.looks = 0.0, 1 << 40, []
        self.usage = Usage()
        self.pause = lambda: None
        monkeypatch.setattr(os, "statvfs", lambda directory: SimpleNamespace(f_bfree=self.free_bytes, f_frsize=1))
        monkeypatch.setattr(scratch, "measure", self.measure)

    def measure(self, directory, quota):
        self.looks.append(directory)
        return self.usage


@pytest.fixture
def disk(monkeypatch):
    return Disk(monkeypatch)


@pytest.fixture
def watch(disk):
    made = ScratchWatch(LIMIT_BYTES, clock=lambda: disk.seconds, pause=lambda: disk.pause())
    disk.seconds = LOOK_SECONDS
    return made


def executor(workspace, process_id=None):
    return SimpleNamespaceKey(spec=SimpleNamespace(workspace=workspace), process_id=process_id)


class SimpleNamespaceKey(SimpleNamespace):
    """One that can be looked up by identity."""

    __hash__ = object.__hash__


def test_programs_are_looked_at_now_and_then(disk, watch):
    for disk.seconds in (LOOK_SECONDS, 1.5 * LOOK_SECONDS, 2 * LOOK_SECONDS):
        watch.look([executor("/w/a")])
    assert len(disk.looks) == 2


def test_a_disk_that_fills_fast_is_looked_at_once(disk, watch):
    watch.look([executor("/w/a")])
    disk.free_bytes += LIMIT_BYTES  # what others delete
    watch.look([executor("/w/a")])
    assert len(disk.looks) == 1
    disk.free_bytes -= FALL_BYTES
    watch.look([executor("/w/a")])
    assert len(disk.looks) == 2


def test_nothing_is_looked_at_before_there_is_an_order(disk, watch):
    assert watch.look([SimpleNamespaceKey(spec=None, process_id=1)]) == {}
    assert disk.looks == []


def test_those_who_share_a_directory_share_one_look_and_its_end(disk, watch):
    disk.usage = Usage(2 * LIMIT_BYTES)
    sharing = [executor("/w/a"), executor("/w/a"), executor("/w/b")]
    assert set(watch.look(sharing)) == set(sharing)
    assert disk.looks == ["/w/a", "/w/b"]


@pytest.mark.parametrize(
    ("usage", "verdict"),
    [
        (Usage(LIMIT_BYTES), None),
        (Usage(2 * LIMIT_BYTES), "Scratch limit of 1 MiB exceeded"),
        (Usage(0, 6000), "Scratch limit of 4096 files exceeded"),
        (Usage(hidden=True), "Scratch limit: there are files that cannot be measured"),
    ],
)
def test_what_is_beyond_the_limit_ends_a_program(disk, watch, usage, verdict):
    disk.usage = usage
    found = [str(error) for error in watch.look([executor("/w/a")]).values()]
    assert found == ([verdict] if verdict else [])


def test_deleted_files_that_are_open_count(disk, watch, tmp_path):
    with (tmp_path / "f").open("wb") as file:
        file.write(bytes(2 * LIMIT_BYTES))
        file.flush()
        (tmp_path / "f").unlink()
        assert watch.look([executor(str(tmp_path / "w"), os.getpid())]) != {}


def test_an_engine_without_descriptors_ends_nobody(disk, watch, monkeypatch):
    def fail(*arguments):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(scratch, "measure", fail)
    assert watch.look([executor("/w/a")]) == {}


def test_what_is_out_of_sight_for_a_moment_ends_no_program(disk, watch):
    disk.usage = Usage(hidden=True)
    disk.pause = lambda: setattr(disk, "usage", Usage(size_bytes=1))
    assert watch.look([executor("/w/a")]) == {}


def test_what_stays_out_of_sight_ends_its_program(disk, watch):
    disk.usage, program = Usage(hidden=True), executor("/w/a")
    assert "cannot be measured" in str(watch.look([program])[program])
    assert len(disk.looks) == LOOKS


def test_what_comes_into_sight_is_measured(disk, watch):
    disk.usage, program = Usage(hidden=True), executor("/w/a")
    disk.pause = lambda: setattr(disk, "usage", Usage(size_bytes=2 * LIMIT_BYTES))
    assert "exceeded" in str(watch.look([program])[program])
